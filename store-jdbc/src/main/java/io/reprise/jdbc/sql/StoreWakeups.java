// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners, here and in other processes, that there may be work. A wake-up is only a hint. */
public interface StoreWakeups extends AutoCloseable {

    void add(Runnable listener);

    void remove(Runnable listener);

    /** Call it after a commit. Does not wait. */
    void announce();

    /**
     * Whether the statement that stores jobs must notify other processes in its own transaction. Then the caller calls
     * {@link #announced} instead of {@link #announce}. This is true so seldom that it does not slow bulk inserts.
     */
    default boolean notifiesWithInsert() {
        return false;
    }

    /** Wakes the listeners here, because the statement has notified the other processes. */
    default void announced() {
        announce();
    }

    /** Says that this process has just claimed jobs, so that its workers look for more by themselves. */
    default void claimed() {}

    @Override
    void close();

    /** Wakes listeners of this store only; other processes poll. */
    final class Local implements StoreWakeups {

        private static final Logger log = LoggerFactory.getLogger(StoreWakeups.class);

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
                // The job is stored in any case, and polling finds it.
                log.warn("A listener for work failed", e);
            }
        }

        @Override
        public void close() {}
    }
}
