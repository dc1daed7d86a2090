// SPDX-License-Identifier: Apache-2.0
/**
 * Decides when a retry helps and when it adds load to a system that is down: {@link io.reprise.control.Breaker},
 * {@link io.reprise.control.Ramp} and {@link io.reprise.control.RetryBudget}. They are immutable states with pure
 * functions from a state, an event and the time to the next state. No clock, no threads, no I/O here: the engine
 * reports the events, the store keeps the states. Users set {@link io.reprise.control.ControlSettings}.
 */
@NullMarked
package io.reprise.control;

import org.jspecify.annotations.NullMarked;
