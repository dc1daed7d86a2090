// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.insight.Activity;
import org.jspecify.annotations.Nullable;

/**
 * Which counts of past periods to read.
 *
 * @param subject what is counted
 * @param step how long the periods are
 * @param periods number of periods; the last is the one that runs now
 * @param name only of this name; null for all names
 * @param each whether every name has rows of its own; if not, the names are added up. At most {@value #MOST_EACH} periods
 * @since 0.1.0
 */
public record ActivityQuery(
        Activity.Subject subject,
        Activity.Step step,
        int periods,
        @Nullable String name,
        boolean each) {

    /** Periods of a query for each name at most. */
    public static final int MOST_EACH = 180;

    /** Checks the number of periods. */
    public ActivityQuery {
        long kept = step.kept().dividedBy(step.length());
        long most = each ? Math.min(kept, MOST_EACH) : kept;
        if (periods < 1 || periods > most) {
            throw new IllegalArgumentException("periods must be 1 to " + most + ", not " + periods);
        }
    }

    /** Reads the sums of all names. */
    public static ActivityQuery sum(Activity.Subject subject, Activity.Step step, int periods) {
        return new ActivityQuery(subject, step, periods, null, false);
    }

    /** Reads the counts of one name. */
    public static ActivityQuery of(Activity.Subject subject, String name, Activity.Step step, int periods) {
        return new ActivityQuery(subject, step, periods, name, false);
    }

    /** Reads the counts of every name. */
    public static ActivityQuery each(Activity.Subject subject, Activity.Step step, int periods) {
        return new ActivityQuery(subject, step, periods, null, true);
    }
}
