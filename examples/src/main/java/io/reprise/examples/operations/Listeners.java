// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.insight.JobEvent;
import io.reprise.insight.JobEvent.Kind;
import io.reprise.job.JobId;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener hears every transition after its commit, with the values that were stored. */
public final class Listeners {

    private static final JobType<String> CALL = JobType.of("call", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(200)).jitter(Jitter.none()));

    private Listeners() {}

    public static void main(String[] args) {
        List<JobEvent> events = new CopyOnWriteArrayList<>();
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .listener(events::add)
                .listener(event -> {
                    throw new IllegalStateException("what a listener throws harms nothing");
                })
                .handle(CALL, (number, job) -> {
                    if (job.attempt() == 1) {
                        throw new IOException("busy");
                    }
                })
                .start()) {
            JobId id = reprise.enqueue(CALL.job("112"));
            Example.check(reprise.await(id, Example.SOON).succeeded(), "the job succeeded in spite of a bad listener");
        }
        events.forEach(event -> Example.say("%s (attempt %d): %s", event.kind(), event.attempt(), event.decision()));
        List<Kind> kinds = events.stream().map(JobEvent::kind).toList();
        Example.check(
                kinds.containsAll(List.of(Kind.ENQUEUED, Kind.STARTED, Kind.RETRY_SCHEDULED, Kind.SUCCEEDED)),
                "every transition was told");
        JobEvent retry = events.get(kinds.indexOf(Kind.RETRY_SCHEDULED));
        Duration wait = Duration.between(retry.at(), Objects.requireNonNull(retry.dueAt()));
        Example.check(wait.toMillis() == 200, "the event says when the job comes back: in " + wait);
    }
}
