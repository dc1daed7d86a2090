// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.WaitReason;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** A job for later: after a delay, or at a time. The store's clock decides, not the worker's. */
public final class DelayedJobs {

    private static final JobType<String> REMIND = JobType.of("remind", String.class);

    private DelayedJobs() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(REMIND, (what, job) -> Example.say("Reminder: %s", what))
                .start()) {
            // snippet:delay
            JobId soon = reprise.enqueue(REMIND.job("tea").after(Duration.ofMillis(400)));
            JobId then = reprise.enqueue(REMIND.job("cake").at(Instant.now().plusMillis(800)));
            JobId past = reprise.enqueue(REMIND.job("breakfast").at(Instant.EPOCH));
            // end
            JobId tonight = reprise.enqueue(REMIND.job("dinner").after(Duration.ofHours(8)));
            Job waiting = reprise.find(tonight).orElseThrow();
            Example.check(waiting.status().waitReason() == WaitReason.DELAYED, "it waits, and says why: DELAYED");
            for (JobId id : new JobId[] {past, soon, then}) {
                Job job = reprise.await(id, Example.SOON).job();
                Instant started = Objects.requireNonNull(job.times().startedAt());
                Duration late = Duration.between(job.times().firstDueAt(), started);
                Example.check(!late.isNegative(), "not before it was due; " + late.toMillis() + " ms after");
            }
        }
    }
}
