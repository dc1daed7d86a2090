// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * The phase of a breaker. The leading worker moves a breaker on with time; every worker moves it on by its reports.
 *
 * @since 0.1.0
 */
public enum BreakerPhase {
    /**
     * All jobs of the resource run. Workers report failures. The breaker opens at the share of failures or the
     * number of failures in a row that {@link BreakerSettings} says. If a tenth of the calls, and at least 5, are
     * throttled, it is RAMPING. A person can force it open.
     */
    CLOSED,

    /**
     * Jobs of the resource are parked, and no call is made. When the next probe is due, the leading worker
     * moves the breaker to HALF_OPEN. A person can force it closed. If a person keeps it open, it stays until that
     * person or another ends the force.
     */
    OPEN,

    /**
     * Jobs are parked, except one probe in the whole fleet. If the probe succeeds, the breaker is RAMPING. If it
     * fails, the breaker is OPEN again. If the probe does not end in time, another follows.
     */
    HALF_OPEN,

    /**
     * Jobs are admitted at a limited rate, and the others are parked. The rate grows while calls succeed. The
     * breaker closes when no job is parked any more or the workers set the pace. It opens again if nearly all calls
     * fail.
     */
    RAMPING
}
