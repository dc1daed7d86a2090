// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/**
 * Marks an exception that must never be retried.
 *
 * <p>It is found anywhere along the cause chain, so a framework that wraps the exception does not hide it.
 */
public interface NonRetryable {}
