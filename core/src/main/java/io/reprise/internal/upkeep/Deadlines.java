// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.insight.JobEvent;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.internal.settle.RunTotals;
import io.reprise.job.Job;
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
public final class Deadlines implements UpkeepRole.Piece {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** Jobs of each batch that the log names. Listeners receive all of them. */
    private static final int NAMED = 10;

    private final JobStore store;
    private final Driver driver;
    private final Events events;
    private final FollowUps followUps;
    private final StoreClock clock;
    private final RunTotals totals;

    /** A batch writes each job to another table, and commits of workers wait behind it for the disk. */
    private static final Duration LONGEST = Duration.ofMillis(30);

    /** At most 2,000 rows: each expired job is read whole for its event. */
    private final BatchSize size = new BatchSize(500, 2_000, LONGEST);

    public Deadlines(EngineParts parts) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.events = parts.events();
        this.followUps = parts.followUps();
        this.clock = parts.clock();
        this.totals = parts.totals();
    }

    @Override
    public String name() {
        return "deadlines";
    }

    @Override
    public Duration work() {
        int rows = size.rows();
        long began = driver.nanos();
        List<Job> expired = store.expire(rows, job -> followUps.after(JobEvent.Kind.FAILED, job, 0));
        if (expired.size() == rows) {
            size.took(driver.nanos() - began);
        }
        expired.stream().limit(NAMED).forEach(events::logExpired);
        if (expired.size() > NAMED) {
            log.warn("{} more tasks failed permanently (DEADLINE: they waited too long)", expired.size() - NAMED);
        }
        for (Job job : expired) {
            totals.expired(job);
            Instant stored = job.times().finishedAt();
            events.published(JobEvent.Kind.FAILED, job, stored == null ? clock.now() : stored);
        }
        // {@code expire} may skip a queue that is busy. While it returns jobs, there may be more. No job waits for
        // this, and workers use the same processors and the same disk: it rests as long as it worked.
        return expired.isEmpty() ? INTERVAL : Duration.ofNanos(driver.nanos() - began);
    }
}
