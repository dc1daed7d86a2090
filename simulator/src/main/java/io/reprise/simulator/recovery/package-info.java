// SPDX-License-Identifier: Apache-2.0
/**
 * Worlds in which trouble comes and goes, each drawn from a seed, and a checker of how the fleet comes back: does it
 * reach full speed again, soon, without a flood, without waste, and without harm to others?
 */
@NullMarked
package io.reprise.simulator.recovery;

import org.jspecify.annotations.NullMarked;
