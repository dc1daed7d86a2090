// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** An order of a customer. */
@Entity
@Table(name = "customer_order")
public class CustomerOrder {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Long id;

    private String customer;
    private int cents;
    private String status = "PLACED";

    protected CustomerOrder() {}

    CustomerOrder(String customer, int cents) {
        this.customer = customer;
        this.cents = cents;
    }

    public Long getId() {
        return id;
    }

    public String getCustomer() {
        return customer;
    }

    public int getCents() {
        return cents;
    }

    public String getStatus() {
        return status;
    }

    void setStatus(String status) {
        this.status = status;
    }
}
