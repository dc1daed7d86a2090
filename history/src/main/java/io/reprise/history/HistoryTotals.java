// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How often one job was claimed, and the outcomes of the claims, since its counters were last reset. */
final class HistoryTotals {

    int claims;
    int releases;
    private int attempts;
    private int losses;
    private int interruptions;
    private int snoozes;
    private long granted;
    /** Attempts that an unanswered call may have granted. */
    private long maybeGranted;

    private long maxAttempts = Long.MAX_VALUE;
    private long maxLosses = Long.MAX_VALUE;
    private boolean lossesCount;

    void limits(HistoryEvent enqueued) {
        @Nullable String most = enqueued.detail("attempts");
        maxAttempts = most == null ? Long.MAX_VALUE : Long.parseLong(most);
        maxLosses = enqueued.number("losses");
        lossesCount = enqueued.isTrue("lossesCount");
        if (enqueued.isTrue("replaced")) {
            // A replaced job keeps its counters and runs at least once more.
            maxAttempts = Math.max(maxAttempts, spent() + 1);
        }
    }

    void add(String spent) {
        switch (spent) {
            case "ATTEMPT" -> attempts++;
            case "LOSS" -> losses++;
            case "INTERRUPTION" -> interruptions++;
            case "SNOOZE" -> snoozes++;
            default -> releases++;
        }
    }

    void reset() {
        claims = 0;
        releases = 0;
        attempts = 0;
        losses = 0;
        interruptions = 0;
        snoozes = 0;
        granted = 0;
        maybeGranted = 0;
    }

    /** A new step raises the granted attempts, and never lowers them. */
    void raise(HistoryEvent event, boolean surely) {
        String raised = event.detail("granted");
        if (raised != null && surely) {
            granted = Math.max(granted, Long.parseLong(raised));
        } else if (raised != null) {
            maybeGranted = Math.max(maybeGranted, Long.parseLong(raised));
        }
    }

    /** A job that a person puts back runs at least once more. */
    void grant(long more) {
        granted += more;
        if (maxAttempts != Long.MAX_VALUE) {
            maxAttempts = Math.max(maxAttempts, spent() + 1 - granted);
        }
    }

    void copy(HistoryTotals other) {
        claims = other.claims;
        releases = other.releases;
        attempts = other.attempts;
        losses = other.losses;
        interruptions = other.interruptions;
        snoozes = other.snoozes;
        granted = other.granted;
        maybeGranted = other.maybeGranted;
        maxAttempts = other.maxAttempts;
        maxLosses = other.maxLosses;
        lossesCount = other.lossesCount;
    }

    int losses() {
        return losses;
    }

    private long limit() {
        return maxAttempts == Long.MAX_VALUE ? maxAttempts : maxAttempts + Math.max(granted, maybeGranted);
    }

    private long spent() {
        return attempts + (lossesCount ? losses : 0L);
    }

    boolean isSpent() {
        return spent() >= limit();
    }

    boolean isOverspent() {
        return spent() > limit();
    }

    boolean isLostTooOften() {
        return losses >= maxLosses;
    }

    /**
     * Compares the counters with the stored ones.
     *
     * @param open claims that are not over yet
     */
    void compare(HistoryEvent row, int open, Consumer<String> violated) {
        if (row.number("granted") > granted && row.number("granted") <= maybeGranted) {
            granted = row.number("granted");
        }
        if (row.number("attempts") != attempts
                || row.number("losses") != losses
                || row.number("interruptions") != interruptions
                || row.number("snoozes") != snoozes
                || row.number("granted") != granted) {
            violated.accept("has other counters than what was accepted adds up to: " + this + "; stored: " + row);
        }
        if (claims - open != attempts + losses + interruptions + snoozes + releases) {
            violated.accept(
                    "was claimed " + claims + " times, " + open + " still open, but claims ended only as " + this);
        }
    }

    @Override
    public String toString() {
        return attempts + " attempts of " + (maxAttempts == Long.MAX_VALUE ? "any" : Long.toString(limit())) + ", "
                + losses + " losses, " + interruptions + " interruptions, " + snoozes + " snoozes, " + releases
                + " releases";
    }
}
