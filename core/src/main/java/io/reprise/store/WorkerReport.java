// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;

/**
 * What a worker says of itself.
 *
 * @param queues those it serves, in their order; one that ends with {@link #ANY} stands for all that begin so; empty for
 *     every queue there is
 * @param types those it has handlers for; {@link #ANY} for all
 * @param concurrency jobs it runs at once
 * @param holding jobs it holds now, running or about to
 */
public record WorkerReport(String name, List<String> queues, List<String> types, int concurrency, int holding) {

    /** Stands for every type there is, and for every end of a queue's name. */
    public static final String ANY = "*";

    public WorkerReport {
        queues = List.copyOf(queues);
        types = List.copyOf(types);
    }

    public boolean serves(String queue) {
        return queues.isEmpty() || queues.stream().anyMatch(name -> isMeant(name, queue));
    }

    private static boolean isMeant(String name, String queue) {
        return name.equals(queue) || (name.endsWith(ANY) && queue.startsWith(name.substring(0, name.length() - 1)));
    }

    public boolean handles(String type) {
        return types.contains(type) || types.contains(ANY);
    }
}
