// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.time.ZoneId;

/** For users of db-scheduler, JobRunr and Quartz: a task of each as a job. */
public final class FromJavaSchedulers {

    // snippet:dbscheduler
    static final JobType<String> MAIL = JobType.of("mail", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1)).maxRetries(3));
    // end
    // snippet:jobrunr
    static final JobType<Integer> INVOICE =
            JobType.of("invoice", Integer.class).retry(RetryPolicy.unset().maxRetries(2));
    // end
    static final JobType<String> REPORT = JobType.of("report", String.class);

    private FromJavaSchedulers() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(MAIL, (to, job) -> Example.say("Mail to %s", to))
                .handle(INVOICE, (number, job) -> Example.say("Invoice %d", number))
                .handle(REPORT, (name, job) -> Example.say("Report %s", name))
                .start()) {
            // snippet:dbschedulerEnqueue
            JobId mail = reprise.enqueue(MAIL.job("ada@example.org").key("mail-17"));
            // end
            // snippet:jobrunrEnqueue
            JobId invoice = reprise.enqueue(INVOICE.job(17));
            // end
            // snippet:quartz
            reprise.schedule(
                    Schedule.cron("nightly", "0 3 * * *", REPORT.job("day")).zone(ZoneId.of("Europe/Paris")));
            // end
            JobId report = reprise.as("ada", "now, please").trigger("nightly");
            for (JobId id : new JobId[] {mail, invoice, report}) {
                Example.check(reprise.await(id, Example.SOON).succeeded(), "job " + id + " is done");
            }
        }
    }
}
