// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobContext;
import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A handler as a class of its own, with what it needs passed to its constructor. */
public final class HandlerClass {

    record Invoice(int number, String to) {}

    static final JobType<Invoice> SEND_INVOICE = JobType.of("send-invoice", Invoice.class);

    // snippet:handler
    static final class SendInvoice implements JobHandler<Invoice> {
        private final List<String> outbox;

        SendInvoice(List<String> outbox) {
            this.outbox = outbox;
        }

        @Override
        public void handle(Invoice invoice, JobContext job) throws IOException {
            if (invoice.to().isBlank()) {
                throw new IllegalArgumentException("invoice " + invoice.number() + " has no address");
            }
            outbox.add(invoice.to());
        }
    }
    // end

    private HandlerClass() {}

    public static void main(String[] args) {
        List<String> outbox = Collections.synchronizedList(new ArrayList<>());
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(SEND_INVOICE, new SendInvoice(outbox))
                .start()) {
            JobId good = reprise.enqueue(SEND_INVOICE.job(new Invoice(1, "ada@example.org")));
            Example.check(reprise.await(good, Example.SOON).succeeded(), "sent: " + outbox);
            JobId bad = reprise.enqueue(SEND_INVOICE.job(new Invoice(2, "")));
            Example.check(!reprise.await(bad, Example.SOON).succeeded(), "without an address it is dead at once");
        }
    }
}
