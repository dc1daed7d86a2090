// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

/**
 * The result of classifying a failure.
 *
 * @param failureClass the class of the failure
 * @param rule name of the rule that chose the class, or a fixed name: {@code handler} if the handler gave the class;
 *     {@code timeout}, {@code lost}, {@code interrupted} or {@code unreadable} if the engine gave it;
 *     {@code non-retryable} for {@link NonRetryable}; {@code unclassified} if no rule matched
 * @since 0.1.0
 */
public record Classification(FailureClass failureClass, String rule) {}
