// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/** The class of a failure and the name of the rule that chose it. */
public record Classification(FailureClass failureClass, String rule) {}
