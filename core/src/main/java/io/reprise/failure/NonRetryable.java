// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

/**
 * Marks an exception that is never retried: its class is {@link FailureClass#PERMANENT}, before any rule is asked.
 *
 * <p>The marker works anywhere along the cause chain, so a framework that wraps the exception does not hide it. Only a
 * class that the handler gave comes before it.
 *
 * @since 0.1.0
 */
public interface NonRetryable {}
