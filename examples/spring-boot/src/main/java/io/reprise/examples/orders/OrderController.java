// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import java.util.List;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderController {

    private final OrderService service;
    private final OrderRepository orders;
    private final Reprise reprise;

    OrderController(OrderService service, OrderRepository orders, Reprise reprise) {
        this.service = service;
        this.orders = orders;
        this.reprise = reprise;
    }

    @PostMapping("/orders")
    Map<String, Object> place(@RequestParam("customer") String customer, @RequestParam("cents") int cents) {
        return shown(service.place(customer, cents));
    }

    @GetMapping("/orders/{id}")
    Map<String, Object> order(@PathVariable("id") long id) {
        return shown(orders.findById(id).orElseThrow());
    }

    // snippet:dead
    @GetMapping("/dead-letters")
    List<String> deadLetters() {
        return reprise.find(JobQuery.deadLetters()).items().stream()
                .map(Job::toString)
                .toList();
    }

    @PostMapping("/dead-letters/{id}/retry")
    void retry(@PathVariable("id") long id) {
        reprise.as("operator", "asked over HTTP").retry(new JobId(id), ManualRetry.NOW);
    }
    // end

    private static Map<String, Object> shown(CustomerOrder order) {
        return Map.of("id", order.getId(), "customer", order.getCustomer(), "status", order.getStatus());
    }
}
