// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * A caller's own open transaction, in the form that one kind of store understands. Obtain it from the store's module
 * (for JDBC, {@code JdbcTransaction.of(connection)}); pass it to enqueue or complete a job in it. Reprise never commits,
 * rolls back or closes it.
 */
public interface Transaction {}
