// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The right to run one job outside this process, until it expires.
 *
 * @param key what the worker shows to say how it went
 * @param attempt the counted attempt this would be, from 1
 */
public record RemoteLease(Key key, Job job, int attempt, Instant expiresAt) {

    public static final Duration MIN_TERM = Duration.ofSeconds(1);
    public static final Duration MAX_TERM = Duration.ofHours(12);
    public static final int MAX_JOBS = 1_000;

    /**
     * What a worker asks for.
     *
     * @param worker its name, unique in the fleet
     * @param queues to take from, in this order; empty for all there are whose names begin with the prefix
     * @param prefix of the queues to take from if none is named; empty for all there are
     * @param types of which jobs must be; empty for any
     * @param max jobs at most: 1 to {@value #MAX_JOBS}
     * @param lease how long they are held unless renewed: 1 s to 12 h
     */
    public record Wish(String worker, List<String> queues, String prefix, Set<String> types, int max, Duration lease) {

        /** From these queues, or from all there are. */
        public Wish(String worker, List<String> queues, Set<String> types, int max, Duration lease) {
            this(worker, queues, "", types, max, lease);
        }

        public Wish {
            JobSpec.requireName("worker", worker);
            queues = List.copyOf(queues);
            types = Set.copyOf(types);
            if (max < 1 || max > MAX_JOBS) {
                throw new IllegalArgumentException("max must be 1 to " + MAX_JOBS + ", not " + max);
            }
            requireTerm(lease);
        }
    }

    /**
     * Names a lease on one job.
     *
     * @param token the fencing token
     * @param admitted whether the job waited for a breaker and was let through
     */
    public record Key(long token, JobId job, boolean admitted) {

        private static final Pattern TEXT = Pattern.compile("([0-9]{1,18})-([0-9]{1,18})(-p)?");

        public String text() {
            return token + "-" + job + (admitted ? "-p" : "");
        }

        /** Reads what {@link #text} wrote. @throws IllegalArgumentException if it is anything else */
        public static Key parse(String text) {
            Matcher parts = TEXT.matcher(text);
            if (!parts.matches()) {
                throw new IllegalArgumentException("'" + text + "' is not a lease token");
            }
            return new Key(Long.parseLong(parts.group(1)), JobId.parse(parts.group(2)), parts.group(3) != null);
        }
    }

    static Duration requireTerm(Duration term) {
        if (term.compareTo(MIN_TERM) < 0 || term.compareTo(MAX_TERM) > 0) {
            throw new IllegalArgumentException("lease must be " + MIN_TERM + " to " + MAX_TERM + ", not " + term);
        }
        return term;
    }
}
