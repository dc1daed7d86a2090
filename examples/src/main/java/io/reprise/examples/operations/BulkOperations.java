// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.Bulk;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Replay;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/** One operation on every job that a query finds: first as a dry run, then on a few, then on the rest. */
public final class BulkOperations {

    private static final JobType<Integer> BILL =
            JobType.of("bill", Integer.class).retry(RetryPolicy.none());

    private BulkOperations() {}

    public static void main(String[] args) {
        AtomicBoolean repaired = new AtomicBoolean();
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(BILL, (customer, job) -> {
                    if (!repaired.get()) {
                        throw new IOException("printer on fire");
                    }
                })
                .start()) {
            List<JobId> ids = reprise.enqueueAll(
                    IntStream.rangeClosed(1, 10).mapToObj(BILL::job).toList());
            ids.forEach(id -> reprise.await(id, Example.SOON));
            repaired.set(true);
            // snippet:bulk
            Bulk bulk =
                    reprise.as("ada", "new printer").all(JobQuery.deadLetters().type("bill"));
            Bulk.Result would = bulk.dryRun().replay(Replay.FRESH);
            Bulk.Result refused = bulk.retry(ManualRetry.NOW);
            Bulk.Result few = bulk.limit(3).replay(Replay.FRESH);
            // end
            Example.check(would.matched() == 10 && would.done() == 0, "the dry run only counts");
            Example.check(refused.done() == 0 && refused.refused().size() == 10, "refusals come with their reasons");
            Example.say("For instance: %s", refused.refused().get(ids.get(0)));
            Example.check(few.done() == 3, "three to see whether it works");
            ids.subList(7, 10)
                    .forEach(id -> Example.check(reprise.await(id, Example.SOON).succeeded(), id + " succeeded"));
            Example.check(bulk.discard().done() == 7, "and something for the rest: here they are discarded");
        }
    }
}
