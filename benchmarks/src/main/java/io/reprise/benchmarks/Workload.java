// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.List;

/** Something to measure. */
interface Workload {

    String name();

    /** One line about it. */
    String title();

    /** Whether it runs without being asked for by name. */
    default boolean byDefault() {
        return true;
    }

    /** Whether it is about the peers too, or only about Reprise and the limit. */
    default boolean forPeers() {
        return true;
    }

    /** Whether it is about Reprise alone: there is nothing to compare it with. */
    default boolean alone() {
        return false;
    }

    /** Whether it makes sense there. */
    default boolean on(StoreKind store) {
        return true;
    }

    /** Whether it is also worth measuring in a process that has hardly run anything before. */
    default boolean alsoCold() {
        return true;
    }

    List<Figure> measure(Trial trial) throws Exception;
}
