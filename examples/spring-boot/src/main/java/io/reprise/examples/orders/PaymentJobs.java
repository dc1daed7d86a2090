// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import io.reprise.JobContext;
import io.reprise.spring.RepriseJob;
import io.reprise.spring.RepriseSchedule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
class PaymentJobs {

    private static final Logger log = LoggerFactory.getLogger(PaymentJobs.class);

    private final PaymentProvider provider;
    private final OrderRepository orders;

    PaymentJobs(PaymentProvider provider, OrderRepository orders) {
        this.provider = provider;
        this.orders = orders;
    }

    // snippet:handler
    @RepriseJob(value = "charge", resource = "payment-provider", retry = "cards", timeout = "20s", transactional = true)
    public void charge(Charge charge, JobContext job) throws InterruptedException {
        provider.charge("job-" + job.id(), charge.cents());
        orders.findById(charge.order()).orElseThrow().setStatus("PAID");
    }
    // end

    // snippet:schedule
    @RepriseSchedule(name = "report", cron = "${orders.report:0 6 * * *}", zone = "Europe/Berlin")
    public void report() {
        log.info("{} orders are paid", orders.countByStatus("PAID"));
    }
    // end
}
