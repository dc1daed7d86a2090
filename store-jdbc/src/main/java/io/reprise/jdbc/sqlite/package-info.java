// SPDX-License-Identifier: Apache-2.0
/**
 * The statements of SQLite.
 */
@NullMarked
package io.reprise.jdbc.sqlite;

import org.jspecify.annotations.NullMarked;
