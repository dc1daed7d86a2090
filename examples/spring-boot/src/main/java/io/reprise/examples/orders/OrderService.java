// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import io.reprise.JobType;
import io.reprise.Reprise;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class OrderService {

    // snippet:enqueue
    static final JobType<Charge> CHARGE = JobType.of("charge", Charge.class);

    private final OrderRepository orders;
    private final Reprise reprise;

    OrderService(OrderRepository orders, Reprise reprise) {
        this.orders = orders;
        this.reprise = reprise;
    }

    @Transactional
    public CustomerOrder place(String customer, int cents) {
        CustomerOrder order = orders.save(new CustomerOrder(customer, cents));
        reprise.enqueue(CHARGE.job(new Charge(order.getId(), cents)));
        if (cents <= 0) {
            throw new IllegalArgumentException("an order costs something");
        }
        return order;
    }
    // end
}
