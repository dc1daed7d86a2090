// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * One piece of control state that the fleet shares: a breaker or a budget.
 *
 * @param name name of the state, as {@link io.reprise.control.ControlKey} writes it
 * @param version version that was read; 0 if nothing was stored
 * @param state text that the store does not read
 * @since 0.1.0
 */
public record ControlRow(String name, long version, String state) {}
