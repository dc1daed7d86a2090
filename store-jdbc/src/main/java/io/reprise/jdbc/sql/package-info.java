// SPDX-License-Identifier: Apache-2.0
/**
 * The layer above JDBC: connections, sessions, rows, dialects, errors and migrations. It knows no job.
 */
@NullMarked
package io.reprise.jdbc.sql;

import org.jspecify.annotations.NullMarked;
