// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;

/**
 * What a worker says of itself.
 *
 * @param queues those it serves, in their order; empty for every queue there is
 * @param types those it has handlers for; {@link #ANY} for all
 * @param concurrency jobs it runs at once
 * @param holding jobs it holds now, running or about to
 */
public record WorkerReport(String name, List<String> queues, List<String> types, int concurrency, int holding) {

    /** Stands for every type there is. */
    public static final String ANY = "*";

    public WorkerReport {
        queues = List.copyOf(queues);
        types = List.copyOf(types);
    }

    public boolean serves(String queue) {
        return queues.isEmpty() || queues.contains(queue);
    }

    public boolean handles(String type) {
        return types.contains(type) || types.contains(ANY);
    }
}
