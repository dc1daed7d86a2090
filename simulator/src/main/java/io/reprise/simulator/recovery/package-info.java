// SPDX-License-Identifier: Apache-2.0
/**
 * Worlds in which trouble comes and goes, each drawn from a seed. A checker judges how the fleet recovers: whether it
 * reaches full speed again, soon, without a flood, without waste, and without harm to others.
 */
@NullMarked
package io.reprise.simulator.recovery;

import org.jspecify.annotations.NullMarked;
