// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Worlds side by side. Each is one thread and shares nothing, so how many run at once changes no result. */
final class Parallel {

    private Parallel() {}

    /** The results in the order of the inputs. */
    static <A, B> List<B> map(Collection<A> inputs, Function<A, B> world) {
        return inputs.parallelStream().map(world).toList();
    }
}
