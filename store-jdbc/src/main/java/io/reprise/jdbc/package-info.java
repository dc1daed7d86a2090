// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs in SQLite, PostgreSQL, MySQL or MariaDB: {@link io.reprise.jdbc.JdbcJobStore} and
 * {@link io.reprise.jdbc.JdbcTransaction}. The comment above a statement says what it means; the dialects hold the
 * differences between the databases. A claim never writes a job's row: a job is held exactly while a lease row lists it
 * and the job's own token is less than that lease's.
 */
@NullMarked
package io.reprise.jdbc;

import org.jspecify.annotations.NullMarked;
