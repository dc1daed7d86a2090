// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/**
 * Runs worlds in parallel. Each world uses one thread and shares nothing, so the number of threads changes no result.
 */
public final class Parallel {

    private Parallel() {}

    /** Returns the results in the order of the inputs. */
    public static <A, B> List<B> map(Collection<A> inputs, Function<A, B> world) {
        return inputs.parallelStream().map(world).toList();
    }
}
