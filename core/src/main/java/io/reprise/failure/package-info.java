// SPDX-License-Identifier: Apache-2.0
/**
 * Reads failures: {@link io.reprise.failure.Failure} is what a handler threw, {@link io.reprise.failure.FailureClass}
 * what it means for a retry, and a {@link io.reprise.failure.Rule} maps one to the other. Pure functions, no clock, no
 * I/O.
 */
@NullMarked
package io.reprise.failure;

import org.jspecify.annotations.NullMarked;
