// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the workers of this process that there may be work. Other processes poll. */
final class MongoWakeups {

    private static final Logger log = LoggerFactory.getLogger(MongoWakeups.class);

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    void add(Runnable listener) {
        listeners.add(listener);
    }

    void remove(Runnable listener) {
        listeners.remove(listener);
    }

    <T> T after(T answer) {
        listeners.forEach(MongoWakeups::tell);
        return answer;
    }

    private static void tell(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException e) {
            // What was written is committed in any case, and polling finds it.
            log.warn("A listener for work failed", e);
        }
    }
}
