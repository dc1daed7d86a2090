// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/** Testing your own handlers: the real engine without threads or waiting, where a day passes in no time. */
public final class VirtualTime {

    private static final JobType<String> PAY = JobType.of("pay", String.class);

    private VirtualTime() {}

    public static void main(String[] args) {
        long start = System.nanoTime();
        // snippet:inline
        ManualClock clock = new ManualClock(Instant.parse("2026-01-01T00:00:00Z"));
        Instant repaired = Instant.parse("2026-01-01T02:00:00Z");
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(new InMemoryJobStore(clock)).handle(PAY, (invoice, job) -> {
                    if (clock.instant().isBefore(repaired)) {
                        throw new IOException("the bank is down");
                    }
                }),
                clock)) {
            JobId id = worker.reprise().enqueue(PAY.job("invoice 3"));
            worker.advance(Duration.ofHours(1));
            Job waiting = worker.reprise().find(id).orElseThrow();
            worker.advance(Duration.ofHours(2));
            Job paid = worker.reprise().find(id).orElseThrow();
            // end
            worker.reprise()
                    .attempts(id)
                    .forEach(run -> Example.say(
                            "#%d at %s: %s",
                            run.number(),
                            run.startedAt(),
                            run.decision() instanceof Decision.Retry retry
                                    ? "again in " + retry.delay()
                                    : run.ending()));
            Example.check(
                    waiting.state() == JobState.PENDING,
                    "after one hour it still waits, " + waiting.attempts() + " attempts spent");
            Example.check(
                    paid.state() == JobState.SUCCEEDED,
                    "it was paid at " + paid.times().finishedAt());
        }
        Example.say("Three hours took %d ms", (System.nanoTime() - start) / 1_000_000);
    }
}
