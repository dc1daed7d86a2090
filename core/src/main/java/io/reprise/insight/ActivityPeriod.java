// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Instant;

/**
 * Counts of one minute or hour of the clock.
 *
 * @param at when the period began
 * @param name what was counted, or empty for the sum of all names
 * @param counts the numbers
 * @since 0.1.0
 */
public record ActivityPeriod(Instant at, String name, Activity.Counts counts) {}
