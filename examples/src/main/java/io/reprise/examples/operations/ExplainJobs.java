// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.insight.Explanation;
import io.reprise.job.JobId;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;

/** Why is this job not running? Ask, and get data and one sentence. */
public final class ExplainJobs {

    private static final JobType<String> SEND = JobType.of("send", String.class);

    private ExplainJobs() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .queues(Queue.of("mail"))
                        .handle(SEND, (letter, job) -> {
                            throw new IOException("the post office is closed");
                        }),
                clock)) {
            Reprise reprise = worker.reprise();
            JobId failed = reprise.enqueue(SEND.job("to Ada").queue("mail"));
            worker.runDue();
            // snippet:explain
            Explanation explanation = reprise.explain(failed);
            Example.say("%s", explanation.sentence());
            boolean waits = explanation.reasons().get(0) instanceof Explanation.NotDue;
            // end
            Example.check(waits && explanation.nextAt() != null, "it waits for its retry at " + explanation.nextAt());

            reprise.as("bob", "holidays").pause("mail");
            JobId paused = reprise.enqueue(SEND.job("to Bob").queue("mail"));
            Example.say("%s", reprise.explain(paused).sentence());
            Example.check(
                    reprise.explain(paused).reasons().get(0) instanceof Explanation.QueuePaused pause
                            && pause.by().equals("bob"),
                    "it knows who paused the queue");

            JobId lonely = reprise.enqueue(SEND.job("to nobody").queue("island").after(Duration.ZERO));
            Example.say("%s", reprise.explain(lonely).sentence());
            Example.check(
                    reprise.explain(lonely).reasons().contains(new Explanation.NoWorker("island")),
                    "no worker serves that queue");
            Example.check(
                    reprise.workers().size() == 1,
                    "the one worker serves " + reprise.workers().get(0).report().queues());
        }
    }
}
