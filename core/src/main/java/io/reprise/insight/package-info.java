// SPDX-License-Identifier: Apache-2.0
/**
 * Plain data about jobs: events, alerts, costs, predictions, explanations and the state of resources.
 */
@NullMarked
package io.reprise.insight;

import org.jspecify.annotations.NullMarked;
