// SPDX-License-Identifier: Apache-2.0
/**
 * The settings of retry control: breakers, ramps and retry budgets decide when a retry helps and when it adds load to a
 * system that is down. Start at {@link io.reprise.control.ControlSettings}. Immutable data without a clock, threads or I/O.
 */
@NullMarked
package io.reprise.control;

import org.jspecify.annotations.NullMarked;
