// SPDX-License-Identifier: Apache-2.0
/**
 * One class per experiment of {@code reprise simulate}. Start at {@link io.reprise.simulator.experiment.Experiment}.
 */
@NullMarked
package io.reprise.simulator.experiment;

import org.jspecify.annotations.NullMarked;
