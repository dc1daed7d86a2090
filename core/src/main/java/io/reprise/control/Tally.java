// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * What one worker saw of a resource since it last said so.
 *
 * @param ordinary outcomes of jobs that ran as usual
 * @param admitted outcomes of jobs that the breaker let through
 * @param trailing counted failures since the last success
 * @param rate successes per second before the trouble began; told once per worker, else 0
 * @param quickest seconds that a quick call took then; 0 if not known
 */
public record Tally(Counts ordinary, Counts admitted, int trailing, double rate, double quickest) {

    public static final Tally NOTHING = new Tally(Counts.NONE, Counts.NONE, 0, 0, 0);

    /**
     * Outcomes by what they say about the resource.
     *
     * @param failures of the classes the breaker counts
     * @param others failures that say nothing about the resource
     * @param seconds that the successes took altogether
     * @param quickest seconds that the quickest success took; 0 if there was none
     */
    public record Counts(int successes, int failures, int throttled, int others, double seconds, double quickest) {

        public static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0);

        /** One success. */
        public static Counts success(double seconds) {
            return new Counts(1, 0, 0, 0, seconds, seconds);
        }

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

        /** Calls that tell something. */
        int calls() {
            return successes + failures + throttled;
        }
    }

    Counts all() {
        return ordinary.plus(admitted);
    }
}
