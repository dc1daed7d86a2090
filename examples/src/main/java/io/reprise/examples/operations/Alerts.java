// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobListener;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.insight.Alert;
import io.reprise.insight.AlertRules;
import io.reprise.insight.JobEvent;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Listeners are told once when retries get out of hand, and once when it is over. */
public final class Alerts {

    private static final JobType<String> CALL = JobType.of("call", String.class);

    private Alerts() {}

    // snippet:pager
    private record Pager(List<Alert> pages) implements JobListener {
        @Override
        public void onEvent(JobEvent event) {}

        @Override
        public void onAlert(Alert alert) {
            pages.add(alert);
        }
    }
    // end

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        List<Alert> pages = new ArrayList<>();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .listener(new Pager(pages))
                        // snippet:rules
                        .alerts(AlertRules.DEFAULT.retryRate(0.2, 50).retryCount(25))
                        // end
                        .handle(CALL, (number, job) -> Example.check(job.attempt() == 2, "there is a connection")),
                clock)) {
            for (int i = 0; i < 30; i++) {
                worker.reprise().enqueue(CALL.job("112"));
            }
            worker.advance(Duration.ofMinutes(1));
            Example.check(worker.reprise().alerts().equals(pages), "it is raised: " + pages);
            Example.check(pages.size() == 1, "told once, though it has lasted a minute");
            worker.advance(Duration.ofMinutes(15));
            Example.check(
                    pages.size() == 2 && !pages.get(1).isRaised(), pages.get(1).message());
        }
    }
}
