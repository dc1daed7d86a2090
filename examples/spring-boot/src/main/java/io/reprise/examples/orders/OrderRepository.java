// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import org.springframework.data.jpa.repository.JpaRepository;

interface OrderRepository extends JpaRepository<CustomerOrder, Long> {

    long countByStatus(String status);
}
