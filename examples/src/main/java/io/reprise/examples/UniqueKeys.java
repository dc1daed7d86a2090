// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.JobId;
import io.reprise.job.KeyRule;
import java.time.Duration;

/** A unique key: at most one live job holds it. An idempotency key: the same request twice is one job. */
public final class UniqueKeys {

    private static final JobType<String> SYNC = JobType.of("sync", String.class);

    private UniqueKeys() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(SYNC, (what, job) -> Example.say("Synchronised %s", what))
                .start()) {
            // snippet:keys
            var sync = SYNC.job("customer 7").after(Duration.ofMinutes(1));
            JobId first = reprise.enqueue(sync.key("customer-7"));
            JobId kept = reprise.enqueue(sync.key("customer-7", KeyRule.KEEP));
            JobId replaced = reprise.enqueue(SYNC.job("all of customer 7").key("customer-7", KeyRule.REPLACE));
            // end
            Example.check(kept.equals(first), "KEEP: the job that holds the key is returned");
            Example.check(replaced.equals(first), "REPLACE: the waiting job has the new payload and due time");
            reprise.await(first, Example.SOON);

            JobId again = reprise.enqueue(sync.key("customer-7"));
            Example.check(!again.equals(first), "the key is free once its job has ended");
            try {
                reprise.enqueue(sync.key("customer-7", KeyRule.REJECT));
                throw new IllegalStateException("the key was given twice");
            } catch (DuplicateKeyException e) {
                Example.check(e.holder().equals(again), "REJECT: " + e.getMessage());
            }

            JobId request = reprise.enqueue(SYNC.job("order 9").idempotencyKey("request-9"));
            reprise.await(request, Example.SOON);
            JobId repeated = reprise.enqueue(SYNC.job("order 9").idempotencyKey("request-9"));
            Example.check(
                    repeated.equals(request), "an idempotency key leads to the first job even after it has ended");
        }
    }
}
