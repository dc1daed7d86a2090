// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

/**
 * Executes handlers: a thread pool in production, the calling thread or virtual time in tests. The {@code Runner} hands
 * it one run per claimed job.
 */
public interface HandlerExecutor extends AutoCloseable {

    void execute(Runnable work);

    /** Accepts no more work and interrupts the threads. Does not wait for handlers that ignore the interrupt. */
    @Override
    void close();
}
