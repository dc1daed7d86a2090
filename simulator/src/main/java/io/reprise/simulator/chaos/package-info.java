// SPDX-License-Identifier: Apache-2.0
/**
 * Disasters from a seed: real engines on one store, in one thread and in virtual time, where every store call is a point at
 * which others may act, time may pass and things may go wrong. {@link io.reprise.simulator.chaos.Chaos} is the way in.
 */
@NullMarked
package io.reprise.simulator.chaos;

import org.jspecify.annotations.NullMarked;
