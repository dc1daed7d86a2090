// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The known facts of the steps of one job, and checks whether the next event can be true. */
final class StepTrack {

    private final BiConsumer<String, String> violated;
    /** When the call was over that stored the value of a step or an event. */
    private final Map<String, Long> doneUntil = new HashMap<>();

    private final Set<String> told = new HashSet<>();
    private final Set<String> maybeTold = new HashSet<>();
    private final Set<String> ranOnce = new HashSet<>();
    private @Nullable String awaited;

    StepTrack(BiConsumer<String, String> violated) {
        this.violated = violated;
    }

    /** A job that is replaced begins without steps. A repeated request looks the same and changes nothing. */
    void maybeReplaced() {
        doneUntil.clear();
        maybeTold.addAll(told);
        told.clear();
        ranOnce.clear();
    }

    private static String name(HistoryEvent event) {
        return String.valueOf(event.detail("step"));
    }

    void stored(HistoryEvent event) {
        if (event.is("state", "DONE")) {
            doneUntil.putIfAbsent(name(event), event.until());
        }
    }

    /** A handler began the work of a step. {@code lease} is null if its claim is not known. */
    void ran(HistoryEvent event, @Nullable LeaseTrack lease) {
        Long done = doneUntil.get(name(event));
        if (done != null && lease != null && lease.asked > done) {
            violated.accept(
                    "step repeated",
                    "ran step " + name(event) + " under token " + event.token() + " although its result was stored");
        }
        if (event.isTrue("once") && !ranOnce.add(name(event))) {
            violated.accept("step repeated", "ran step " + name(event) + " twice, which runs at most once");
        }
    }

    /** An event was told, surely or maybe. Returns whether the job may be due by it. */
    boolean told(HistoryEvent event, boolean surely) {
        (surely ? told : maybeTold).add(name(event));
        if (surely) {
            doneUntil.putIfAbsent(name(event), event.until());
        }
        return name(event).equals(awaited);
    }

    /** An outcome was accepted. Returns whether the job may be due at once, because it waits for what was told. */
    boolean waits(HistoryEvent outcome) {
        awaited = outcome.detail("awaits");
        return awaited != null && (told.contains(awaited) || maybeTold.contains(awaited));
    }

    /** Compares what is surely stored with the steps of the row. */
    void compare(HistoryEvent row) {
        String all = row.detail("done");
        if (all == null) {
            return;
        }
        List<String> done = List.of(all.split(",", -1));
        for (String name : doneUntil.keySet()) {
            if (!done.contains(name)) {
                violated.accept("step lost", "has lost step " + name + ", which was stored: " + row);
            }
        }
        if (row.is("wait", "EVENT") && awaited != null && told.contains(awaited) && isWaiting(row)) {
            violated.accept("event lost", "still waits for event " + awaited + ", which was told: " + row);
        }
    }

    private static boolean isWaiting(HistoryEvent row) {
        var due = row.time("due");
        var now = row.time("now");
        return due != null && now != null && due.isAfter(now);
    }
}
