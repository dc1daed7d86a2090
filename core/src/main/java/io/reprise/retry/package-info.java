// SPDX-License-Identifier: Apache-2.0
/**
 * Retry arithmetic: the class of a failure, whether another attempt is worth it, and how long to wait.
 *
 * <p>Start at {@link io.reprise.retry.RetryPolicy}. Everything here is a pure function of its arguments: no clock, no
 * threads, no I/O. Randomness comes only from the generator that the caller passes. All types are immutable and
 * thread-safe. No argument may be null unless it is marked {@code @Nullable}.
 */
@NullMarked
package io.reprise.retry;

import org.jspecify.annotations.NullMarked;
