// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.Reprise;

/**
 * An open transaction of the caller, in the form that one kind of store understands. The module of the store creates
 * it: for JDBC, {@code JdbcTransaction.of(connection)}. Pass it to {@link Reprise#enqueue(Transaction, JobRequest)} or
 * {@link JobContext#complete}. Reprise never commits, rolls back or closes it.
 *
 * @since 0.1.0
 */
public interface Transaction {}
