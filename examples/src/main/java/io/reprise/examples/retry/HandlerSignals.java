// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;

/** A handler says what happens next: retry no sooner than, fail for good, call me later, cancel. */
public final class HandlerSignals {

    private static final JobType<String> CALL = JobType.of("call", String.class);

    private HandlerSignals() {}

    // snippet:signals
    private static void call(String answer, JobContext job) {
        boolean first = job.attempt() == 1 && job.job().counts().snoozes() == 0;
        switch (first ? answer : "ok") {
            case "busy" -> throw JobSignal.retryAfter(Duration.ofMillis(300), "the service is busy");
            case "no such customer" -> throw JobSignal.fail("the customer was deleted");
            case "not ready" -> throw JobSignal.snooze(Duration.ofMillis(100));
            case "not needed" -> throw new IllegalStateException(JobSignal.cancel("the order was withdrawn"));
            default -> job.result("done");
        }
    }
    // end

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .retry(RetryPolicy.fixed(Duration.ofMillis(10)))
                .handle(CALL, HandlerSignals::call)
                .start()) {
            Outcome busy = run(reprise, "busy");
            Example.check(
                    reprise.attempts(busy.job().id()).get(0).decision() instanceof Decision.Retry retry
                            && retry.delay().toMillis() == 300,
                    "retried when the service said, later than the policy would");

            Outcome hopeless = run(reprise, "no such customer");
            Example.check(hopeless.failReason() == FailReason.PERMANENT, "failed for good at once");
            Outcome later = run(reprise, "not ready");
            Example.check(later.succeeded() && later.job().attempts() == 1, "called later, and no attempt was spent");
            Example.check(run(reprise, "not needed").state() == JobState.CANCELLED, "cancelled, though it was wrapped");
        }
    }

    private static Outcome run(Reprise reprise, String answer) {
        Outcome outcome = reprise.await(reprise.enqueue(CALL.job(answer)), Example.SOON);
        Example.say("'%s': %s", answer, outcome);
        return outcome;
    }
}
