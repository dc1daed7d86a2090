// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.report.Figure;
import java.util.List;

/** A workload to measure. */
public interface Workload {

    String name();

    /** Returns a title of one line. */
    String title();

    /** Whether it runs without being named. */
    default boolean byDefault() {
        return true;
    }

    /** Whether it covers the peers too, or only Reprise and the raw limit. */
    default boolean forPeers() {
        return true;
    }

    /** Whether it covers Reprise alone, because there is nothing to compare with. */
    default boolean alone() {
        return false;
    }

    /** Whether it makes sense on this store. */
    default boolean on(StoreKind store) {
        return true;
    }

    /** Whether it is also worth measuring in a process that has hardly run anything before. */
    default boolean alsoCold() {
        return true;
    }

    List<Figure> measure(Trial trial) throws Exception;
}
