// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

/**
 * The outcomes that one worker saw of a resource since its last report. Immutable.
 *
 * @param ordinary outcomes of runs that no breaker held back
 * @param admitted outcomes of runs that the breaker admitted
 * @param trailing counted failures since the last success
 * @param rate successes per second before the trouble began; each worker reports it once, and 0 otherwise
 * @param quickest seconds that a quick call took before the trouble; 0 if not known
 * @since 0.1.0
 */
public record CallCounts(Counts ordinary, Counts admitted, int trailing, double rate, double quickest) {

    /** A report without outcomes. */
    public static final CallCounts NOTHING = new CallCounts(Counts.NONE, Counts.NONE, 0, 0, 0);

    /**
     * Outcomes, by what they mean for the resource. Immutable.
     *
     * @param successes calls that succeeded
     * @param failures failures of the classes that the breaker counts
     * @param throttled calls that were throttled
     * @param others failures that say nothing about the resource
     * @param seconds time of all successes together, in seconds
     * @param quickest time of the quickest success, in seconds; 0 if there was no success
     */
    public record Counts(int successes, int failures, int throttled, int others, double seconds, double quickest) {

        /** No outcome. */
        public static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0);

        /**
         * Returns one success.
         *
         * @param seconds time that the call took
         */
        public static Counts success(double seconds) {
            return new Counts(1, 0, 0, 0, seconds, seconds);
        }

        /** Returns the sum of both; {@code quickest} is the smaller of the two. */
        public Counts plus(Counts more) {
            return new Counts(
                    successes + more.successes,
                    failures + more.failures,
                    throttled + more.throttled,
                    others + more.others,
                    seconds + more.seconds,
                    quicker(more));
        }

        private double quicker(Counts more) {
            if (successes == 0 || more.successes == 0) {
                return Math.max(quickest, more.quickest);
            }
            return Math.min(quickest, more.quickest);
        }

        /** Returns the number of calls that say something about the resource. */
        int calls() {
            return successes + failures + throttled;
        }
    }

    Counts all() {
        return ordinary.plus(admitted);
    }
}
