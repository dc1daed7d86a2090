// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * One piece of control state that the fleet shares: a breaker or a budget.
 *
 * @param name what it is about, as {@link io.reprise.control.ControlKey} writes it
 * @param version of what was read; 0 if there was nothing
 * @param state text that the store does not look into
 */
public record ControlRow(String name, long version, String state) {}
