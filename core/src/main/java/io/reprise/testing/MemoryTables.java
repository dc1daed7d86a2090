// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.insight.QueuePosition;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** All rows of the store with their indexes. Guarded by the lock of the store. */
final class MemoryTables {

    private static final Comparator<StoredJob> BY_ID = Comparator.comparing(job -> job.id);

    final NavigableMap<JobId, StoredJob> jobs = new TreeMap<>();
    final NavigableMap<Long, MemoryLease> leases = new TreeMap<>();
    final NavigableMap<String, MemoryQueue> queues = new TreeMap<>();
    final Map<String, StoredJob> keyHolders = new HashMap<>();

    /** The jobs that wait for the end of the one that holds their key. */
    final Set<StoredJob> following = new LinkedHashSet<>();

    final Map<String, StoredJob> idempotent = new HashMap<>();
    final NavigableSet<StoredJob> byDeadline = new TreeSet<>(
            Comparator.<StoredJob, Instant>comparing(MemoryTables::deadline).thenComparing(BY_ID));
    static final Comparator<StoredJob> BY_FINISH = (one, other) -> {
        int byFinish = finish(one).compareTo(finish(other));
        return byFinish == 0 ? one.id.compareTo(other.id) : byFinish;
    };

    /** The ended jobs of each state. */
    private final Map<JobState, NavigableSet<StoredJob>> byFinish = new EnumMap<>(JobState.class);

    final Map<String, NavigableSet<StoredJob>> parked = new TreeMap<>();
    final MemoryBatches batches = new MemoryBatches(this);
    private long lastId;
    private long lastToken;

    JobId nextId() {
        return new JobId(++lastId);
    }

    long nextToken() {
        return ++lastToken;
    }

    MemoryQueue queue(String name) {
        return queues.computeIfAbsent(name, MemoryQueue::new);
    }

    /** Returns the pause of a queue, or that of the queue that its jobs name; null if neither is paused. */
    QueueState.@Nullable Pause pause(MemoryQueue queue) {
        MemoryQueue named = queue.paused == null ? queues.get(Needs.base(queue.name)) : queue;
        return named == null ? null : named.paused;
    }

    /** Returns the limit of a queue, or that of the queue that its jobs name; null if neither is limited. */
    @Nullable
    Integer limit(MemoryQueue queue) {
        MemoryQueue named = queue.maxRunning == null ? queues.get(Needs.base(queue.name)) : queue;
        return named == null ? null : named.maxRunning;
    }

    /** Returns how many more jobs of a queue may run if it is not paused. */
    int room(MemoryQueue queue) {
        return Math.max(0, roomBy(limiting(queue)));
    }

    /** Returns the queue whose limit leaves less room: this one, or the one that its jobs name. */
    private MemoryQueue limiting(MemoryQueue queue) {
        MemoryQueue named = queues.getOrDefault(Needs.base(queue.name), queue);
        return roomBy(named) < roomBy(queue) ? named : queue;
    }

    private int roomBy(MemoryQueue queue) {
        return queue.maxRunning == null ? Integer.MAX_VALUE : queue.maxRunning - running(queue);
    }

    /** Counts running jobs of a queue, and of the queues of jobs with needs beside it. */
    private int running(MemoryQueue queue) {
        return queue.running()
                + queues.subMap(Needs.after(queue.name), Needs.before(queue.name)).values().stream()
                        .mapToInt(MemoryQueue::running)
                        .sum();
    }

    void add(StoredJob job) {
        jobs.put(job.id, job);
        index(job);
    }

    void delete(StoredJob job) {
        unindex(job);
        jobs.remove(job.id);
        if (!job.steps.isEmpty()) {
            batches.forget(job.id);
        }
        job.idempotencyKeys.forEach(idempotent::remove);
    }

    /** Returns the jobs that ended in a state, the oldest first. */
    NavigableSet<StoredJob> ended(JobState state) {
        return byFinish.computeIfAbsent(state, ended -> new TreeSet<>(BY_FINISH));
    }

    void update(StoredJob job, Runnable change) {
        unindex(job);
        JobState before = job.state;
        try {
            change.run();
        } finally {
            index(job);
        }
        batches.moved(job, before);
    }

    void remember(JobSpec spec, StoredJob job) {
        remember(spec.idempotencyKey(), job);
        remember(spec.idempotencyProof(), job);
    }

    void remember(@Nullable String idempotencyKey, StoredJob job) {
        if (idempotencyKey != null) {
            idempotent.put(idempotencyKey, job);
            job.idempotencyKeys.add(idempotencyKey);
        }
    }

    QueuePosition queuePosition(StoredJob job, int most, Instant now) {
        MemoryQueue queue = queue(job.spec.queue());
        MemoryQueue limiting = limiting(queue);
        boolean waits = job.state == JobState.PENDING && job.parkedBy == null && !job.dueAt.isAfter(now);
        return new QueuePosition(
                job.read(),
                now,
                job.lease == null ? null : job.lease.expiresAt,
                job.state == JobState.PENDING ? job.parkedBy : null,
                pause(queue),
                limiting.maxRunning,
                running(limiting),
                waits ? queue.ready.higher(job, now, most) : 0,
                waits ? queue.ready.earlier(job, most) : 0);
    }

    private void index(StoredJob job) {
        MemoryQueue queue = queue(job.spec.queue());
        queue.count(job.state, 1);
        if (job.state == JobState.PENDING) {
            if (job.parkedBy == null) {
                queue.ready.add(job);
            } else {
                parked.computeIfAbsent(job.parkedBy, name -> new TreeSet<>(ReadyJobs.BY_DUE))
                        .add(job);
            }
            if (job.deadline != null) {
                byDeadline.add(job);
            }
        }
        String key = heldKey(job);
        if (job.state.isTerminal()) {
            ended(job.state).add(job);
        } else if (key != null) {
            keyHolders.put(key, job);
            if (job.follows()) {
                following.add(job);
            }
        }
    }

    private static @Nullable String heldKey(StoredJob job) {
        String key = job.spec.key();
        return key != null && job.follows() ? key + JobSpec.FOLLOWING : key;
    }

    private void unindex(StoredJob job) {
        MemoryQueue queue = queue(job.spec.queue());
        queue.count(job.state, -1);
        if (job.state == JobState.PENDING) {
            if (job.parkedBy == null) {
                queue.ready.remove(job);
            } else {
                parked.computeIfPresent(job.parkedBy, (name, jobs) -> {
                    jobs.remove(job);
                    return jobs.isEmpty() ? null : jobs;
                });
            }
            if (job.deadline != null) {
                byDeadline.remove(job);
            }
        }
        String key = heldKey(job);
        if (job.state.isTerminal()) {
            ended(job.state).remove(job);
        } else if (key != null) {
            keyHolders.remove(key);
            following.remove(job);
        }
    }

    private static Instant deadline(StoredJob job) {
        return job.deadline == null ? Instant.MAX : job.deadline;
    }

    private static Instant finish(StoredJob job) {
        return job.finishedAt == null ? Instant.MAX : job.finishedAt;
    }
}
