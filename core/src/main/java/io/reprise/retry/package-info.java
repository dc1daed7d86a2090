// SPDX-License-Identifier: Apache-2.0
/**
 * Retry arithmetic: what a failure is, whether it is worth another attempt, and how long to wait.
 *
 * <p>Start at {@link io.reprise.retry.RetryPolicy}. Everything here is a pure function of its arguments: no clock, no
 * threads, no I/O, and randomness only from the generator passed in. All types are immutable and thread-safe.
 */
@NullMarked
package io.reprise.retry;

import org.jspecify.annotations.NullMarked;
