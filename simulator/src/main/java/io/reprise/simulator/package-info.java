// SPDX-License-Identifier: Apache-2.0
/**
 * Experiments that run the real engine in virtual time: several workers on one in-memory store, in one thread, from one
 * seed. Start at {@link io.reprise.simulator.experiment.Experiment}. This module uses {@code io.reprise.internal}, so it lives on
 * the class path, and only the program depends on it.
 */
@NullMarked
package io.reprise.simulator;

import org.jspecify.annotations.NullMarked;
