// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

/** Something to find out by simulation. */
public interface Experiment {

    /** Runs it. The same seed gives the same report, to the last byte. */
    Report run(long seed);
}
