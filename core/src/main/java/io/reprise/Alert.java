// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Something about retries that a person should look at. Told to listeners once when it is raised and once when it is
 * cleared, by the worker that leads.
 *
 * @param type the job type concerned
 * @param value what was measured, when it was raised or when it was cleared; in the unit of its kind
 * @param threshold what it was above
 * @param since when it was raised
 * @param clearedAt when it was cleared; null while it is raised
 */
public record Alert(
        Kind kind,
        String type,
        double value,
        double threshold,
        Instant since,
        @Nullable Instant clearedAt) {

    /** What is watched. */
    public enum Kind {
        /** Share of jobs, 0 to 1, whose first attempt is to be retried. */
        RETRY_RATE,
        /** Retries scheduled. */
        RETRY_COUNT,
        /** Dead letters, far more than usual. */
        DEAD_LETTERS,
        /** Mean delay before a retry, in seconds. */
        BACKOFF,
        /** Queues in which jobs of the type are parked because no live worker has a handler for it. */
        NO_HANDLER
    }

    public boolean isRaised() {
        return clearedAt == null;
    }

    /** One sentence for a person. */
    public String message() {
        String what = switch (kind) {
            case RETRY_RATE ->
                format("High retry rate for %s: %.0f %% of jobs (alert above %.0f %%)", 100 * value, 100 * threshold);
            case RETRY_COUNT -> format("High retry rate for %s: %.0f retries (alert above %.0f)", value, threshold);
            case DEAD_LETTERS -> format("Many dead letters of %s: %.0f (alert above %.0f)", value, threshold);
            case NO_HANDLER ->
                String.format(Locale.ROOT, "No worker handles %s: its jobs wait in %.0f queues", type, value);
            case BACKOFF -> format("Long backoff for %s: %.0f s on average (alert above %.0f s)", value, threshold);
        };
        return isRaised() ? what : "Over: " + what;
    }

    private String format(String text, double measured, double limit) {
        return String.format(Locale.ROOT, text, type, measured, limit);
    }
}
