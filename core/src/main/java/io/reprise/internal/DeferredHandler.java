// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.JobContext;
import io.reprise.JobHandler;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handler whose runs last longer than its call, without a thread: a simulated one, whose time is virtual. Registered
 * like any other.
 */
public interface DeferredHandler<P> extends JobHandler<P> {

    /**
     * Begins a run and returns at once.
     *
     * @param end to be called once, when the run is over, with what it failed of or with null
     * @return what takes the place of an interrupt: called once if the run shall stop
     */
    Runnable begin(P payload, JobContext job, Consumer<@Nullable Throwable> end) throws Exception;

    @Override
    default void handle(P payload, JobContext job) {
        throw new UnsupportedOperationException("Only begun by an engine");
    }
}
