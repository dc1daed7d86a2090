// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.examples.Example;
import io.reprise.job.JobQuery;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;

/** Intervals that count from the end of a job, or that have a start, an end and jitter. */
public final class Intervals {

    private static final JobType<String> REPORT = JobType.of("report", String.class);

    private Intervals() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(new InMemoryJobStore(clock)).handle(REPORT, (name, job) -> {}), clock)) {
            Reprise reprise = worker.reprise();
            // snippet:intervals
            reprise.schedule(Schedule.fixedDelay("mirror", Duration.ofHours(1), REPORT.job("mirror"))
                    .firstNow());
            reprise.schedule(Schedule.every("trial", Duration.ofHours(6), REPORT.job("trial"))
                    .start(clock.instant().plus(Duration.ofHours(3)))
                    .end(clock.instant().plus(Duration.ofHours(20)))
                    .jitter(Duration.ofMinutes(5)));
            // end
            worker.advance(Duration.ofDays(1));
            Example.check(fired(reprise, "mirror") >= 20, "the mirror at once, then an hour after the end of each");
            Example.check(fired(reprise, "trial") == 3, "the trial after 3, 9 and 15 hours, and then it had ended");
        }
    }

    private static int fired(Reprise reprise, String schedule) {
        return reprise.find(JobQuery.all().schedule(schedule).limit(1000))
                .items()
                .size();
    }
}
