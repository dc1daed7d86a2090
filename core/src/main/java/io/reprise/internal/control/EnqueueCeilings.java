// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.internal.settle.Chain;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.settings.CeilingException;
import io.reprise.settings.CeilingException.Kind;
import io.reprise.settings.FleetSettings;
import io.reprise.store.JobStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Refuses jobs beyond the ceilings of the fleet before they come into a queue. Every way from outside leads here: a new
 * job, a dead letter that comes back, a waiting job that is moved or gets another payload, and a schedule. A job that
 * follows another is checked when the first one is enqueued. Its own coming is never refused, because it belongs to an
 * outcome that must be written.
 *
 * <p>A queue with a ceiling is counted every 2 seconds, or less often if a count takes long. What this process enqueued
 * since is added. So the whole fleet may exceed the ceiling by what other processes enqueue between two counts.
 * Thread-safe.
 */
public final class EnqueueCeilings {

    private static final long USUAL_NANOS = Duration.ofSeconds(2).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(30).toNanos();

    /** Before a refusal a queue is counted again, but not more often than this. */
    private static final long FULL_NANOS = Duration.ofMillis(250).toNanos();

    /** A count pauses for this many times its length. */
    private static final int REST = 20;

    private static final int MAX_KNOWN = 10_000;

    private final JobStore store;
    private final LiveSettings live;
    private final LongSupplier nanos;
    private final Map<String, Depth> depths = new ConcurrentHashMap<>();

    public EnqueueCeilings(JobStore store, LiveSettings live, LongSupplier nanos) {
        this.store = store;
        this.live = live;
        this.nanos = nanos;
    }

    /**
     * Checks jobs that are about to be stored. A job that its idempotency key leads to is stored already: a caller that lost
     * the answer gets it, though the queue is full meanwhile.
     *
     * @throws CeilingException if a payload is too large, or a queue is full
     */
    public void require(List<JobSpec> jobs) {
        FleetSettings fleet = live.now();
        if (!fleet.hasCeilings()) {
            return;
        }
        jobs.forEach(this::requirePayloads);
        Map<String, Integer> more = new TreeMap<>();
        jobs.forEach(job -> each(job, spec -> more.merge(spec.queue(), 1, Integer::sum)));
        more.forEach((queue, number) -> {
            try {
                requireRoom(queue, number);
            } catch (CeilingException full) {
                requireRoomForNew(queue, number, jobs, full);
            }
        });
    }

    /** Looks only before a refusal which of the jobs are stored already, and not beyond the first one without room. */
    private void requireRoomForNew(String queue, int number, List<JobSpec> jobs, CeilingException full) {
        long room = full.ceiling() - (full.value() - number);
        int fresh = 0;
        for (JobSpec job : jobs) {
            int links = links(job, queue);
            if (links > 0 && isNew(job)) {
                fresh += links;
            }
            if (fresh > room) {
                throw full;
            }
        }
        if (fresh > 0) {
            requireRoom(queue, fresh);
        }
    }

    /** How many jobs come into the queue: this one, and those that follow it. */
    private static int links(JobSpec job, String queue) {
        int[] links = {0};
        each(job, spec -> links[0] += spec.queue().equals(queue) ? 1 : 0);
        return links[0];
    }

    private boolean isNew(JobSpec job) {
        String key = job.idempotencyKey();
        return key == null || store.findByIdempotencyKey(key).isEmpty();
    }

    /** Calls this for a job and for all that follow it. */
    private static void each(JobSpec job, Consumer<JobSpec> check) {
        check.accept(job);
        Chain.of(job)
                .ifPresent(chain -> chain.links().stream().map(Chain.Link::spec).forEach(check));
    }

    /**
     * Checks the payloads of a job that a schedule will enqueue, and of all jobs that follow it.
     *
     * @throws CeilingException if a payload is too large
     */
    public void requirePayloads(JobSpec job) {
        each(job, spec -> requirePayload(spec.queue(), spec.payload()));
    }

    /**
     * Checks a payload that a job in this queue is about to get.
     *
     * @param payload as it is stored
     * @throws CeilingException if it is too large
     */
    public void requirePayload(String queue, String payload) {
        Integer most = live.now().ceilings(queue).payloadBytes();
        // A char is at most 3 bytes.
        if (most != null && payload.length() > most / 3) {
            int bytes = payload.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > most) {
                throw new CeilingException(Kind.PAYLOAD, queue, bytes, most, Duration.ZERO);
            }
        }
    }

    /**
     * Checks that a queue has room for more jobs. Jobs with needs count in the queue that they name, unless the queue in which
     * they wait has settings of its own.
     *
     * @throws CeilingException if it is full
     */
    public void requireRoom(String queue, int jobs) {
        Integer most = live.now().ceilings(queue).queueDepth();
        if (most != null) {
            depth(live.now().queues().containsKey(queue) ? queue : Needs.base(queue))
                    .admit(jobs, most);
        }
    }

    private Depth depth(String queue) {
        if (depths.size() > MAX_KNOWN) {
            depths.clear();
        }
        return depths.computeIfAbsent(queue, Depth::new);
    }

    /** The last count of one queue, and the jobs that passed since. */
    private final class Depth {
        private final String queue;
        private final ReentrantLock counting = new ReentrantLock();
        private long counted;
        /** Jobs that passed here since the count. */
        private long since;

        private boolean known;
        private long countedAt;
        private long took;

        Depth(String queue) {
            this.queue = queue;
        }

        void admit(int number, int most) {
            if (isOlder(USUAL_NANOS)) {
                count(most);
            }
            if (!pass(number, most)) {
                if (isOlder(FULL_NANOS)) {
                    count(most);
                }
                if (!pass(number, most)) {
                    throw full(number, most);
                }
            }
        }

        private synchronized boolean isOlder(long age) {
            return !known || nanos.getAsLong() - countedAt > Math.min(LONGEST_NANOS, Math.max(age, REST * took));
        }

        private synchronized boolean pass(int number, int most) {
            boolean passes = counted + since + number <= most;
            since += passes ? number : 0;
            return passes;
        }

        private synchronized CeilingException full(int number, int most) {
            long rest = Math.max(FULL_NANOS, REST * took);
            return new CeilingException(
                    Kind.DEPTH,
                    queue,
                    counted + since + number,
                    most,
                    Duration.ofSeconds(1 + Duration.ofNanos(rest).toSeconds()));
        }

        /** Counts, unless another thread does so. Only the first count is waited for. */
        private void count(int most) {
            if (isKnown()) {
                if (!counting.tryLock()) {
                    return;
                }
            } else {
                counting.lock();
            }
            try {
                long before = passed();
                long from = nanos.getAsLong();
                int jobs = Math.min(most, store.depth(queue, most) + store.live(Needs.after(queue), most));
                learn(jobs, before, from);
            } finally {
                counting.unlock();
            }
        }

        private synchronized boolean isKnown() {
            return known;
        }

        private synchronized long passed() {
            return since;
        }

        private synchronized void learn(int jobs, long before, long from) {
            counted = jobs;
            // Jobs that passed during the count may be in it or not. They stay, so that the ceiling is kept.
            since -= before;
            known = true;
            countedAt = nanos.getAsLong();
            took = countedAt - from;
        }
    }
}
