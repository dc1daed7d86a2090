// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs in SQLite or PostgreSQL: {@link io.reprise.jdbc.JdbcJobStore} and {@link io.reprise.jdbc.JdbcTransaction}. What a
 * statement means is said above it; what differs between the databases is in their dialects. A claim never writes a job's
 * row: a job is held exactly while a lease row lists it and the job's own token is less than that lease's.
 */
@NullMarked
package io.reprise.jdbc;

import org.jspecify.annotations.NullMarked;
