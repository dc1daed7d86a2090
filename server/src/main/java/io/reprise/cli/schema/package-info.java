// SPDX-License-Identifier: Apache-2.0
/**
 * {@code reprise schema}: the tables of the stores as text.
 */
@NullMarked
package io.reprise.cli.schema;

import org.jspecify.annotations.NullMarked;
