// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Operations;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** A job that has failed for good stays, and is found by queue, type, tag or error, until a person deals with it. */
public final class ListDeadLetters {

    private static final JobType<Integer> BILL =
            JobType.of("bill", Integer.class).retry(RetryPolicy.none());

    private ListDeadLetters() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(BILL, (customer, job) -> {
                    boolean lost = customer % 3 == 0;
                    throw lost ? new IllegalArgumentException("no address") : new IOException("printer on fire");
                })
                .start()) {
            for (int customer = 1; customer <= 6; customer++) {
                reprise.await(reprise.enqueue(BILL.job(customer).tags("may")), Example.SOON);
            }
            // snippet:groups
            List<Job> dead =
                    reprise.find(JobQuery.deadLetters().type("bill").tag("may")).items();
            Map<String, Long> groups =
                    dead.stream().collect(Collectors.groupingBy(ListDeadLetters::error, Collectors.counting()));
            // end
            Example.say("Dead letters by fingerprint of their error: %s", groups);
            Example.check(dead.size() == 6 && groups.size() == 2, "six dead letters, two kinds of error");
            List<Job> group = reprise.find(JobQuery.deadLetters().fingerprint(error(dead.get(0))))
                    .items();
            group.forEach(job -> Example.say("%s: %s", job.id(), job.status().lastError()));
            Operations ada = reprise.as("ada", "sent by hand");
            ada.discard(group.get(0).id());
            Example.check(reprise.find(group.get(0).id()).isEmpty(), "a discarded job is gone");
            long pruned = ada.prune(Set.of(JobState.FAILED), Duration.ZERO);
            Example.check(pruned == 5, "prune removes what ended longer ago than an age, here all that were left");
        }
    }

    private static String error(Job job) {
        return Objects.requireNonNull(job.status().lastError()).fingerprint();
    }
}
