// SPDX-License-Identifier: Apache-2.0
/**
 * Random and changed input for parsers.
 */
@NullMarked
package io.reprise.testkit.fuzz;

import org.jspecify.annotations.NullMarked;
