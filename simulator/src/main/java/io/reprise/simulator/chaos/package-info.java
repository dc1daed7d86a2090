// SPDX-License-Identifier: Apache-2.0
/**
 * Disasters from a seed: real engines on one store, in one thread and in virtual time. At every store call others may
 * act, time may pass and faults may happen. Start at {@link io.reprise.simulator.chaos.Chaos}.
 */
@NullMarked
package io.reprise.simulator.chaos;

import org.jspecify.annotations.NullMarked;
