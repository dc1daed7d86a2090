// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Tells the workers of this process that there may be work. Other processes poll. */
final class Wakeups {

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    void add(Runnable listener) {
        listeners.add(listener);
    }

    void remove(Runnable listener) {
        listeners.remove(listener);
    }

    <T> T after(T answer) {
        listeners.forEach(Runnable::run);
        return answer;
    }
}
