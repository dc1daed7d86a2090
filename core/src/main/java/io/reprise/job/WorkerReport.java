// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.util.List;

/**
 * The report of a worker about itself.
 *
 * @param name name of the worker
 * @param queues queues that it serves, in their order. A name that ends with {@link #ANY} stands for all queues with
 *     this beginning. An empty list stands for every queue
 * @param types job types that it has handlers for; {@link #ANY} for all
 * @param concurrency jobs that it runs at once
 * @param holding jobs that it holds now, running or waiting for a thread
 * @since 0.1.0
 */
public record WorkerReport(String name, List<String> queues, List<String> types, int concurrency, int holding) {

    /** Stands for every job type, and for any end of a queue's name. */
    public static final String ANY = "*";

    /** Copies the lists. */
    public WorkerReport {
        queues = List.copyOf(queues);
        types = List.copyOf(types);
    }

    /** Returns whether the worker serves this queue. */
    public boolean serves(String queue) {
        return queues.isEmpty() || queues.stream().anyMatch(name -> isMeant(name, queue));
    }

    private static boolean isMeant(String name, String queue) {
        return name.equals(queue) || (name.endsWith(ANY) && queue.startsWith(name.substring(0, name.length() - 1)));
    }

    /** Returns whether the worker has a handler for this job type. */
    public boolean handles(String type) {
        return types.contains(type) || types.contains(ANY);
    }
}
