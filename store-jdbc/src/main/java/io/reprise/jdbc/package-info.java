// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs in SQLite, PostgreSQL, MySQL or MariaDB. Start at {@link io.reprise.jdbc.JdbcJobStore};
 * {@link io.reprise.jdbc.JdbcTransaction} joins a transaction of the application.
 *
 * <p>There are three table layouts for the four products: MySQL and MariaDB share one. The dialects hold what differs
 * between the databases, and a comment above each statement explains it. A claim never writes the row of a job. A
 * worker holds a job exactly while a lease row lists the job and the job's own token is less than the token of that
 * lease.
 */
@NullMarked
package io.reprise.jdbc;

import org.jspecify.annotations.NullMarked;
