// SPDX-License-Identifier: Apache-2.0
package io.reprise.remote;

import io.reprise.RemoteWorkers;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The right of a worker outside this process to run one job, until the lease expires. The payload of the job is
 * readable: encryption is undone. Immutable.
 *
 * @param key names the lease in every report about this run
 * @param job the leased job
 * @param attempt number of this attempt, from 1
 * @param expiresAt when the lease ends unless it is renewed by {@link RemoteWorkers#heartbeat}
 * @since 0.1.0
 */
public record RemoteLease(Key key, Job job, int attempt, Instant expiresAt) {

    /** The shortest lease: 1 s. */
    public static final Duration MIN_TERM = Duration.ofSeconds(1);

    /** The longest lease: 12 h. */
    public static final Duration MAX_TERM = Duration.ofHours(12);

    /** The greatest number of jobs in one request. */
    public static final int MAX_JOBS = 1_000;

    /**
     * The request of a remote worker for jobs. Immutable.
     *
     * @param worker name of the worker, unique in the fleet
     * @param queues queues to take jobs from, in this order; empty for all queues whose names begin with {@code prefix}
     * @param prefix beginning of the names of the queues, used if {@code queues} is empty; empty for all queues
     * @param types job types that the worker runs; empty for all types that the leasing process has no handler for
     * @param max greatest number of jobs, 1 to {@value #MAX_JOBS}
     * @param lease how long the jobs are leased unless renewed, 1 s to 12 h
     * @param offers labels that the worker offers to jobs that need them
     */
    public record LeaseRequest(
            String worker,
            List<String> queues,
            String prefix,
            Set<String> types,
            int max,
            Duration lease,
            Set<String> offers) {

        /** Creates a request of a worker that offers nothing. */
        public LeaseRequest(
                String worker, List<String> queues, String prefix, Set<String> types, int max, Duration lease) {
            this(worker, queues, prefix, types, max, lease, Set.of());
        }

        /**
         * Names what the worker offers to jobs that need it.
         *
         * @throws IllegalArgumentException if a label is refused, or there are too many
         */
        public LeaseRequest offering(Collection<String> labels) {
            return new LeaseRequest(worker, queues, prefix, types, max, lease, Set.copyOf(labels));
        }

        /**
         * Creates a request for jobs of these queues, or of all queues if the list is empty.
         *
         * @param worker name of the worker, unique in the fleet
         * @param queues queues to take jobs from, in this order; empty for all
         * @param types job types that the worker runs; empty for all types that the leasing process has no handler for
         * @param max greatest number of jobs, 1 to {@value #MAX_JOBS}
         * @param lease how long the jobs are leased unless renewed, 1 s to 12 h
         * @throws IllegalArgumentException if {@code worker} does not have the form of {@link JobSpec#requireName}, or
         *     a value is outside its bounds
         */
        public LeaseRequest(String worker, List<String> queues, Set<String> types, int max, Duration lease) {
            this(worker, queues, "", types, max, lease);
        }

        /**
         * Checks all values and copies the collections. The names of queues and types are not checked.
         *
         * @throws IllegalArgumentException if {@code worker} does not have the form of {@link JobSpec#requireName}, or
         *     a value is outside its bounds
         */
        public LeaseRequest {
            JobSpec.requireName("worker", worker);
            queues = List.copyOf(queues);
            types = Set.copyOf(types);
            offers = Set.copyOf(Needs.require(offers));
            if (max < 1 || max > MAX_JOBS) {
                throw new IllegalArgumentException("max must be 1 to " + MAX_JOBS + ", not " + max);
            }
            requireTerm(lease);
        }
    }

    /**
     * Names the lease on one job. A remote worker shows it with every report. Immutable.
     *
     * @param token fencing token of the lease
     * @param job the leased job
     * @param admitted whether a breaker held jobs of the resource back and admitted this run
     */
    public record Key(long token, JobId job, boolean admitted) {

        private static final Pattern TEXT = Pattern.compile("([0-9]{1,18})-([0-9]{1,18})(-p)?");

        /** Returns the key as text for a wire protocol. */
        public String text() {
            return token + "-" + job + (admitted ? "-p" : "");
        }

        /**
         * Reads a key from the text that {@link #text} returns.
         *
         * @throws IllegalArgumentException if the text has another form
         */
        public static Key parse(String text) {
            Matcher parts = TEXT.matcher(text);
            if (!parts.matches()) {
                throw new IllegalArgumentException("'" + text + "' is not a lease token");
            }
            return new Key(Long.parseLong(parts.group(1)), JobId.parse(parts.group(2)), parts.group(3) != null);
        }
    }

    /**
     * Checks the length of a lease.
     *
     * @throws IllegalArgumentException if {@code term} is not 1 s to 12 h
     */
    public static Duration requireTerm(Duration term) {
        if (term.compareTo(MIN_TERM) < 0 || term.compareTo(MAX_TERM) > 0) {
            throw new IllegalArgumentException("lease must be " + MIN_TERM + " to " + MAX_TERM + ", not " + term);
        }
        return term;
    }
}
