// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

/** A workload that only Reprise supports. It runs only if it is named. */
public interface RepriseWorkload extends Workload {

    @Override
    default boolean byDefault() {
        return false;
    }

    @Override
    default boolean alsoCold() {
        return false;
    }

    @Override
    default boolean forPeers() {
        return false;
    }
}
