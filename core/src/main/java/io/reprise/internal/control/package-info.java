// SPDX-License-Identifier: Apache-2.0
/**
 * Decides when a retry helps and when it adds load to a system that is down: {@link
 * io.reprise.internal.control.Breaker}, {@link io.reprise.internal.control.Ramp} and {@link
 * io.reprise.internal.control.RetryBudget}. They are immutable states with pure functions from a state, an event and
 * the time to the next state.
 *
 * <p>{@link io.reprise.internal.control.LocalControl} is the view of one worker. {@link
 * io.reprise.internal.control.ControlSync} joins the views of all workers in the store and unparks jobs.
 */
@NullMarked
package io.reprise.internal.control;

import org.jspecify.annotations.NullMarked;
