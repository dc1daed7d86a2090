// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.Schedule.MissedFire;
import io.reprise.examples.Example;
import io.reprise.job.JobQuery;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.ZoneId;

/** Cron and intervals, what becomes of missed firings, and no overlap. In virtual time, since days must pass. */
public final class Schedules {

    private static final JobType<String> REPORT = JobType.of("report", String.class);

    private Schedules() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(new InMemoryJobStore(clock)).handle(REPORT, (name, job) -> {}), clock)) {
            Reprise reprise = worker.reprise();
            // snippet:schedules
            reprise.schedule(
                    Schedule.cron("nightly", "0 3 * * *", REPORT.job("day")).zone(ZoneId.of("Europe/Paris")));
            reprise.schedule(Schedule.every("hourly", Duration.ofHours(1), REPORT.job("hour")));
            reprise.schedule(Schedule.every("each", Duration.ofHours(1), REPORT.job("hour"))
                    .missed(MissedFire.ALL));
            reprise.schedule(Schedule.every("skip", Duration.ofHours(1), REPORT.job("hour"))
                    .missed(MissedFire.SKIP));
            // end
            worker.advance(Duration.ofDays(1));
            reprise.schedules().forEach(s -> Example.say("%s (%s) fires next at %s", s.name(), s.rule(), s.nextAt()));
            Example.check(fired(reprise, "nightly") == 1, "the nightly report ran once, at 3 in the morning in Paris");
            Example.check(fired(reprise, "hourly") == 24, "the hourly one 24 times");

            clock.advance(Duration.ofHours(5).plusMinutes(30)); // and nobody is there to fire anything
            worker.advance(Duration.ofMinutes(1));
            Example.check(fired(reprise, "hourly") == 25, "ONCE: five missed firings become one");
            Example.check(fired(reprise, "each") == 29, "ALL: each of them is made up for, one after the other");
            Example.check(fired(reprise, "skip") == 24, "SKIP: they are dropped");

            reprise.as("ada", "the printer is broken").pause("default");
            worker.advance(Duration.ofHours(3));
            Example.check(fired(reprise, "hourly") == 26, "no overlap: no second report while the first one waits");
        }
    }

    private static int fired(Reprise reprise, String schedule) {
        return reprise.find(JobQuery.all().schedule(schedule).limit(1000))
                .items()
                .size();
    }
}
