// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The service that jobs call. It answers later, with an error or with null. */
public interface SimulatedDownstream {

    void call(Consumer<@Nullable Exception> answer);
}
