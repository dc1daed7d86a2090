// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.Attempt;
import io.reprise.job.Attempt.Ending;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.retry.Decision;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;

/** Every run is kept with what ended it, what was decided then, and by which rule. */
public final class ReadAttempts {

    private static final JobType<String> SHIP =
            JobType.of("ship", String.class).retry(RetryPolicy.fixed(Duration.ofMillis(30)));

    private ReadAttempts() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(SHIP, (parcel, job) -> {
                    if (job.attempt() == 1) {
                        throw new ConnectException("connection refused");
                    }
                    if (job.attempt() == 2) {
                        throw new IOException("broken pipe");
                    }
                    if (job.job().counts().snoozes() == 0) {
                        throw JobSignal.snooze(Duration.ofMillis(50));
                    }
                })
                .start()) {
            JobId id = reprise.enqueue(SHIP.job("parcel 5"));
            reprise.await(id, Example.SOON);
            // snippet:history
            List<Attempt> history = reprise.attempts(id);
            for (Attempt run : history) {
                Example.say("#%d %s: %s", run.number(), run.ending(), run.failure());
                if (run.decision() instanceof Decision.Retry retry) {
                    Example.say("   %s by rule %s: again in %s", retry.failureClass(), retry.rule(), retry.delay());
                }
            }
            // end
            List<Ending> endings = history.stream().map(Attempt::ending).toList();
            Example.check(
                    endings.equals(List.of(Ending.FAILED, Ending.FAILED, Ending.SNOOZED, Ending.SUCCEEDED)),
                    "all four runs are kept, in order");
            Example.check(history.get(3).number() == 3, "the snoozed run was not counted");
        }
    }
}
