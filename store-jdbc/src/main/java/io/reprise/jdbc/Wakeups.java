// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

/** Tells listeners, here and in other processes, that there may be work. Only ever a hint. */
interface Wakeups extends AutoCloseable {

    void listener(Runnable listener);

    /** To be called after a commit. Does not wait. */
    void announce();

    @Override
    void close();

    /** Within this store only; other processes poll. */
    final class Local implements Wakeups {

        private volatile Runnable listener = () -> {};

        @Override
        public void listener(Runnable listener) {
            this.listener = listener;
        }

        @Override
        public void announce() {
            listener.run();
        }

        @Override
        public void close() {}
    }
}
