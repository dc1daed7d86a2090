// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.Resource;
import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.examples.Example;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** A provider is down for an hour: its breaker parks the jobs, probes, and lets them through gently afterwards. */
public final class Outage {

    private static final JobType<Integer> CHARGE = JobType.of("charge", Integer.class);
    private static final int JOBS = 3_600;

    private Outage() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock(Instant.parse("2026-01-01T00:00:00Z"));
        Instant repaired = Instant.parse("2026-01-01T01:00:00Z");
        AtomicInteger calls = new AtomicInteger();
        // snippet:resource
        RepriseBuilder builder = Reprise.builder()
                .store(new InMemoryJobStore(clock))
                .resources(Resource.of("provider-a").breaker(BreakerSettings.DEFAULT.opensAfter(5)))
                .handle(CHARGE, (amount, job) -> {
                    calls.incrementAndGet();
                    if (clock.instant().isBefore(repaired)) {
                        throw new ConnectException("provider-a does not answer");
                    }
                });
        // end
        try (InlineWorker worker = InlineWorker.start(builder, clock)) {
            Reprise reprise = worker.reprise();
            for (int second = 0; second < JOBS; second++) {
                reprise.enqueue(CHARGE.job(second).resource("provider-a"));
                worker.advance(Duration.ofSeconds(1));
            }
            ResourceStatus it = reprise.resources().get(0);
            Example.say("%s is %s since %s: %s", it.name(), it.phase(), it.since(), it.why());
            Example.check(it.phase() != BreakerPhase.CLOSED, "the breaker holds " + it.parked() + " jobs back");
            Example.check(calls.get() < 400, calls + " calls in an hour of " + JOBS + " jobs");
            worker.advance(Duration.ofHours(1));
            long done = reprise.queues().get(0).count(JobState.SUCCEEDED);
            Example.check(done == JOBS, "all " + done + " jobs are done, none is a dead letter");
        }
    }
}
