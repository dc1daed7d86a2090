// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Duration;

/**
 * Counts of the attempts of one type, queue, resource or error during some period.
 *
 * @param subject what {@code name} is the name of
 * @param name the type, queue, resource or fingerprint, or {@link #REST}
 * @param counts what was counted
 * @since 0.1.0
 */
public record Activity(Subject subject, String name, Counts counts) {

    /** The name under which further names are counted when there are too many. */
    public static final String REST = "other";

    /** The subjects that attempts are counted by. An attempt counts once under each subject that it has. */
    public enum Subject {
        /** The job type. */
        TYPE,
        /** The queue. */
        QUEUE,
        /** The resource, of jobs that have one. */
        RESOURCE,
        /** The fingerprint of the error, of attempts that failed. */
        ERROR,
        /**
         * The queue, of jobs that started for the first time, if the queue has a service level: {@code jobs} started,
         * {@code succeeded} of them in time and {@code failed} late.
         */
        START,
        /** The queue and the group, as {@link #groupOf} joins them, of the same starts. */
        GROUP_START
    }

    /** The length of the periods of which counts are kept. */
    public enum Step {
        /** A minute of the clock. Kept for 3 hours. */
        MINUTE(Duration.ofMinutes(1), Duration.ofHours(3), 500),
        /** An hour of the clock. Kept for 31 days. */
        HOUR(Duration.ofHours(1), Duration.ofDays(31), 200);

        private final Duration length;
        private final Duration kept;
        private final int names;

        Step(Duration length, Duration kept, int names) {
            this.length = length;
            this.kept = kept;
            this.names = names;
        }

        /** Returns how long a period is. */
        public Duration length() {
            return length;
        }

        /** Returns how long counts are kept. */
        public Duration kept() {
            return kept;
        }

        /** Returns the most names of a subject in one period. Further names count as {@link #REST}. */
        public int names() {
            return names;
        }
    }

    /**
     * Numbers of one period.
     *
     * @param jobs first attempts that ended
     * @param succeeded attempts that succeeded
     * @param failed attempts that failed
     * @param retried first attempts whose job is retried
     * @param retries retries that were scheduled, after any attempt
     * @param dead jobs that became dead letters
     * @param backoff the sum of the delays of {@code retries}
     * @param ran the sum of the time that attempts took
     */
    public record Counts(
            long jobs,
            long succeeded,
            long failed,
            long retried,
            long retries,
            long dead,
            Duration backoff,
            Duration ran) {

        /** Nothing was counted. */
        public static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0, Duration.ZERO, Duration.ZERO);

        /** Returns the sum of both counts. */
        public Counts plus(Counts other) {
            return new Counts(
                    jobs + other.jobs,
                    succeeded + other.succeeded,
                    failed + other.failed,
                    retried + other.retried,
                    retries + other.retries,
                    dead + other.dead,
                    backoff.plus(other.backoff),
                    ran.plus(other.ran));
        }
    }

    /** Stands between a queue and a group. No name has it. */
    private static final char OF_GROUP = '|';

    /** The longest name that every store takes. */
    private static final int LONGEST = 100;

    /** Returns the name under which starts of a group are counted; {@link #REST} if it would be too long. */
    public static String groupOf(String queue, String group) {
        String name = queue + OF_GROUP + group;
        return name.length() <= LONGEST ? name : REST;
    }

    /** Returns these counts of starts as a level. The name is a queue, or one that {@link #groupOf} made. */
    public StartLevel level() {
        int at = name.indexOf(OF_GROUP);
        return new StartLevel(
                at < 0 ? name : name.substring(0, at),
                at < 0 ? null : name.substring(at + 1),
                counts.jobs(),
                counts.failed());
    }

    /** Returns these counts under another name. */
    public Activity of(String other) {
        return new Activity(subject, other, counts);
    }

    /** Returns the sum of both counts, under the subject and name of this one. */
    public Activity plus(Activity other) {
        return new Activity(subject, name, counts.plus(other.counts));
    }
}
