// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobEvent;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fails waiting jobs whose deadline has passed. One piece of the leader's upkeep: it calls {@code JobStore.expire} in
 * batches and publishes an event for each dead letter.
 */
final class Deadlines implements UpkeepRole.Piece {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** Jobs of each batch that the log names. Listeners receive all of them. */
    private static final int NAMED = 10;

    private final JobStore store;
    private final Driver driver;
    private final Events events;
    private final Outbox outbox;
    private final StoreClock clock;
    private final Tallies tallies;

    /** At most 2,000 rows: each expired job is read whole for its event. */
    private final BatchSize size = new BatchSize(500, 2_000);

    Deadlines(EngineParts parts) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.events = parts.events();
        this.outbox = parts.outbox();
        this.clock = parts.clock();
        this.tallies = parts.tallies();
    }

    @Override
    public String name() {
        return "deadlines";
    }

    @Override
    public Duration work() {
        int rows = size.rows();
        long began = driver.nanos();
        List<Job> expired = store.expire(rows, job -> outbox.after(JobEvent.Kind.FAILED, job, 0));
        if (expired.size() == rows) {
            size.took(driver.nanos() - began);
        }
        for (Job job : expired.subList(0, Math.min(NAMED, expired.size()))) {
            // The message says "Task" as OmniQ's log does; LogTest fixes the text. Everywhere else the word is job.
            log.warn(
                    "Task failed permanently: {} after {} attempts (DEADLINE: it waited too long)",
                    job.id(),
                    job.attempts());
        }
        if (expired.size() > NAMED) {
            log.warn("{} more tasks failed permanently (DEADLINE: they waited too long)", expired.size() - NAMED);
        }
        for (Job job : expired) {
            tallies.expired(job);
            Instant stored = job.times().finishedAt();
            events.happened(JobEvent.Kind.FAILED, job, stored == null ? clock.now() : stored);
        }
        // {@code expire} may skip a queue that is busy. While it returns jobs, there may be more.
        return expired.isEmpty() ? INTERVAL : Duration.ZERO;
    }
}
