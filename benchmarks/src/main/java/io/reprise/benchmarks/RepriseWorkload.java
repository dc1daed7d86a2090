// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

/** Something that only Reprise does. It runs only when it is asked for by name. */
interface RepriseWorkload extends Workload {

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
