// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Operations;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.NotFinishedException;
import io.reprise.job.QueueState;
import java.time.Duration;

/** A paused queue is claimed from by no worker; what runs goes on, what is enqueued waits. */
public final class PauseAndResume {

    private static final JobType<String> SEND = JobType.of("send", String.class);

    private PauseAndResume() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(SEND, (to, job) -> Example.say("Sent to %s", to))
                .start()) {
            Operations ada = reprise.as("ada", "the mail provider is down");
            ada.pause("mail");
            JobId id = reprise.enqueue(SEND.job("bob").queue("mail"));
            Example.check(!ended(reprise, id), "nothing is sent while the queue is paused");

            QueueState mail = reprise.queues().stream()
                    .filter(queue -> queue.name().equals("mail"))
                    .findFirst()
                    .orElseThrow();
            Example.say("Queue mail: %d waiting, paused: %s", mail.count(JobState.PENDING), mail.paused());
            Example.check(
                    mail.paused() != null && mail.paused().note().by().equals("ada"), "it is known who paused it");

            ada.resume("mail");
            Example.check(reprise.await(id, Example.SOON).succeeded(), "it is sent when the queue is resumed");
        }
    }

    private static boolean ended(Reprise reprise, JobId id) {
        try {
            reprise.await(id, Duration.ofMillis(300));
            return true;
        } catch (NotFinishedException e) {
            return false;
        }
    }
}
