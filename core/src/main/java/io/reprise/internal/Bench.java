// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

/** Where handlers run: a pool in production, the calling thread or virtual time in tests. */
public interface Bench extends AutoCloseable {

    void execute(Runnable work);

    /** Takes no more work and lets go of its threads; does not wait for handlers that will not end. */
    @Override
    void close();
}
