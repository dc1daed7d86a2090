// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners, here and in other processes, that there may be work. Only ever a hint. */
interface Wakeups extends AutoCloseable {

    void add(Runnable listener);

    void remove(Runnable listener);

    /** To be called after a commit. Does not wait. */
    void announce();

    /**
     * Whether a statement that stores jobs is to tell other processes itself, in its own transaction; then
     * {@link #announced} follows instead of {@link #announce}. Seldom enough that it does not slow those who store many.
     */
    default boolean ridesAlong() {
        return false;
    }

    /** There is work, and others have been told. */
    default void announced() {
        announce();
    }

    @Override
    void close();

    /** Within this store only; other processes poll. */
    final class Local implements Wakeups {

        private static final Logger log = LoggerFactory.getLogger(Wakeups.class);

        private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

        @Override
        public void add(Runnable listener) {
            listeners.add(listener);
        }

        @Override
        public void remove(Runnable listener) {
            listeners.remove(listener);
        }

        @Override
        public void announce() {
            listeners.forEach(Local::tell);
        }

        private static void tell(Runnable listener) {
            try {
                listener.run();
            } catch (RuntimeException e) {
                // What it was told about is done either way, and found by polling.
                log.warn("A listener for work failed", e);
            }
        }

        @Override
        public void close() {}
    }
}
