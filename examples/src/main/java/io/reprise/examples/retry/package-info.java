// SPDX-License-Identifier: Apache-2.0
/**
 * Examples of retries: policies, signals, failures, predictions.
 */
@NullMarked
package io.reprise.examples.retry;

import org.jspecify.annotations.NullMarked;
