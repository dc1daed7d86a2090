// SPDX-License-Identifier: Apache-2.0
/**
 * The statements of PostgreSQL.
 */
@NullMarked
package io.reprise.jdbc.postgres;

import org.jspecify.annotations.NullMarked;
