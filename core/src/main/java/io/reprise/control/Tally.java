// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * What one worker saw of a resource since it last said so.
 *
 * @param ordinary outcomes of jobs that ran as usual
 * @param admitted outcomes of jobs that the breaker let through
 * @param trailing counted failures since the last success
 * @param parked jobs that came while the breaker held them back: how fast work arrives
 * @param rate successes per second before the trouble began; told once per worker, else 0
 */
public record Tally(Counts ordinary, Counts admitted, int trailing, int parked, double rate) {

    public static final Tally NOTHING = new Tally(Counts.NONE, Counts.NONE, 0, 0, 0);

    /**
     * Outcomes by what they say about the resource.
     *
     * @param failures of the classes the breaker counts
     * @param others failures that say nothing about the resource
     * @param seconds that the successes took altogether
     */
    public record Counts(int successes, int failures, int throttled, int others, double seconds) {

        public static final Counts NONE = new Counts(0, 0, 0, 0, 0);

        public Counts plus(Counts more) {
            return new Counts(
                    successes + more.successes,
                    failures + more.failures,
                    throttled + more.throttled,
                    others + more.others,
                    seconds + more.seconds);
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
