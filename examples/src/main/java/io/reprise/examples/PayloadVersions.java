// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A payload whose fields change: the new release reads old jobs, and an old worker leaves new jobs alone. */
public final class PayloadVersions {

    // snippet:versions
    record ChargeV1(String account, int amount) {}

    record Charge(String iban, int cents, String currency) {}

    static final JobType<Charge> CHARGE = JobType.of("charge", Charge.class)
            .version(2)
            .upcast(1, ChargeV1.class, old -> new Charge(old.account(), old.amount() * 100, "EUR"));
    // end

    /** The type as the release before had it. */
    private static final JobType<ChargeV1> BEFORE = JobType.of("charge", ChargeV1.class);

    private PayloadVersions() {}

    public static void main(String[] args) throws Exception {
        List<Charge> charged = new CopyOnWriteArrayList<>();
        List<ChargeV1> chargedBefore = new CopyOnWriteArrayList<>();
        try (var store = Example.store();
                Reprise old = Reprise.builder()
                        .store(store)
                        .name("old-worker")
                        .codec(JacksonCodec.strict())
                        .handle(BEFORE, (charge, job) -> chargedBefore.add(charge))
                        .start()) {
            JobId waiting = old.enqueue(CHARGE.job(new Charge("DE1", 500, "USD")));
            JobId usual = old.enqueue(BEFORE.job(new ChargeV1("DE2", 7)));
            old.await(usual, Example.SOON);
            Job left = old.find(waiting).orElseThrow();
            Example.check(chargedBefore.size() == 1, "the old worker did the job of its own version");
            Example.check(left.state() == JobState.PENDING, "it left the newer one alone: no attempt is spent");
            old.stopWorker();
            JobId last = old.enqueue(BEFORE.job(new ChargeV1("DE3", 9)));
            try (Reprise young = Reprise.builder()
                    .store(store)
                    .name("new-worker")
                    .codec(JacksonCodec.strict())
                    .handle(CHARGE, (charge, job) -> charged.add(charge))
                    .start()) {
                young.await(waiting, Example.SOON);
                young.await(last, Example.SOON);
                Example.check(charged.contains(new Charge("DE1", 500, "USD")), "the new worker did the newer one");
                Example.check(charged.contains(new Charge("DE3", 900, "EUR")), "and read the old payload");
            }
        }
    }
}
