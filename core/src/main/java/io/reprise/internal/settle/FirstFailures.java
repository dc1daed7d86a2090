// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds when a job first failed, for the event of its later success. It serves listeners only; no decision depends
 * on it. It remembers failures that this worker settled and asks the store for the others. Only the
 * {@link Settler} uses it. Thread-safe.
 */
final class FirstFailures {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final int MAX_REMEMBERED = 20_000;

    private final JobStore store;

    private final Map<JobId, Instant> remembered = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<JobId, Instant> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };

    FirstFailures(JobStore store) {
        this.store = store;
    }

    /** Remembers the time of a job's first failure from an accepted settlement. */
    synchronized void settled(Job job, Settlement settlement, Instant at) {
        Settlement.Next next = settlement.next();
        boolean again = next instanceof Settlement.Wait || next instanceof Settlement.Park;
        if (again && settlement.spent() == CountedAs.ATTEMPT && job.counts().attempts() == 0) {
            remembered.put(job.id(), at);
        }
    }

    /**
     * Returns when these jobs first failed, as far as that is known. Each of them failed before and has now succeeded.
     */
    Map<JobId, Instant> of(List<Job> succeeded) {
        Map<JobId, Instant> first = new HashMap<>();
        Map<JobId, Instant> lives = new HashMap<>();
        for (Job job : succeeded) {
            Instant seen = take(job.id());
            Instant life = job.times().firstDueAt();
            if (isOf(life, seen)) {
                first.put(job.id(), seen);
            } else {
                lives.put(job.id(), life);
            }
        }
        if (!lives.isEmpty()) {
            ask(lives, first);
        }
        return first;
    }

    private synchronized @Nullable Instant take(JobId job) {
        return remembered.remove(job);
    }

    /** A failure from before a replay does not count: {@code firstDueAt} begins a new life of the job. */
    private static boolean isOf(Instant life, @Nullable Instant failure) {
        return failure != null && !failure.isBefore(life);
    }

    private void ask(Map<JobId, Instant> lives, Map<JobId, Instant> first) {
        try {
            store.failures(lives.keySet())
                    .forEach((id, failures) -> failures.stream()
                            .filter(at -> isOf(lives.getOrDefault(id, Instant.MIN), at))
                            .findFirst()
                            .ifPresent(at -> first.put(id, at)));
        } catch (RuntimeException e) {
            // The outcomes are already written. An exception here must not make the committer write them again.
            log.debug("When {} jobs first failed is not known", lives.size(), e);
        }
    }
}
