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

    /** Stands between a type and a version; no name has it. */
    private static final char VERSION = '#';

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

    /** Returns whether the worker has a handler for this job type, or for this {@link #versioned} type. */
    public boolean handles(String type) {
        if (types.contains(type) || types.contains(ANY)) {
            return true;
        }
        int version = version(type);
        String name = type.substring(0, Math.max(0, type.lastIndexOf(VERSION)));
        return version > 1
                && types.stream().anyMatch(known -> known.startsWith(name + VERSION) && version(known) >= version);
    }

    /** Returns the text for a type with the version of its payload: only the name for version 1. */
    public static String versioned(String type, int version) {
        return version == 1 ? type : type + VERSION + version;
    }

    private static int version(String type) {
        int at = type.lastIndexOf(VERSION);
        try {
            return at < 0 ? 1 : Integer.parseInt(type.substring(at + 1));
        } catch (NumberFormatException e) {
            return 1;
        }
    }
}
