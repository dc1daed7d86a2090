// SPDX-License-Identifier: Apache-2.0
/**
 * When retrying helps and when it hurts: {@link io.reprise.control.Breaker}, {@link io.reprise.control.Ramp} and
 * {@link io.reprise.control.RetryBudget}, as immutable states and pure functions from a state, what happened and the
 * time to the next state. No clock, no threads, no I/O here: the engine brings the facts, the store keeps the states.
 */
@NullMarked
package io.reprise.control;

import org.jspecify.annotations.NullMarked;
