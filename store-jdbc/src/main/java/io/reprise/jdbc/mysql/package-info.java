// SPDX-License-Identifier: Apache-2.0
/**
 * The statements of MySQL and MariaDB.
 */
@NullMarked
package io.reprise.jdbc.mysql;

import org.jspecify.annotations.NullMarked;
