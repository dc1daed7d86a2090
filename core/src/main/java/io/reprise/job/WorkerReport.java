// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.job.JobSpec.Needs;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The report of a worker about itself.
 *
 * @param name name of the worker
 * @param queues queues that it serves, in their order. A name that ends with {@link #ANY} stands for all queues with
 *     this beginning. An empty list stands for every queue. A label that begins with {@value #OFFER} is one that the
 *     worker offers
 * @param types job types that it has handlers for; {@link #ANY} for all. A type that begins with {@value #FULL} is one of
 *     which the worker runs as many jobs as its limit allows
 * @param concurrency jobs that it runs at once
 * @param holding jobs that it holds now, running or waiting for a thread
 * @since 0.1.0
 */
public record WorkerReport(String name, List<String> queues, List<String> types, int concurrency, int holding) {

    /** Stands for every job type, and for any end of a queue's name. */
    public static final String ANY = "*";

    /** Begins a label among the queues. No queue begins with it. */
    public static final String OFFER = "@";

    /** Begins a type of which the worker runs as many jobs as it may. No type begins with it. */
    public static final String FULL = "!";

    /** Stands between a type and a version; no name has it. */
    private static final char VERSION = '#';

    /** Copies the lists. */
    public WorkerReport {
        queues = List.copyOf(queues);
        types = List.copyOf(types);
    }

    /** Creates a report of a worker that offers labels. */
    public WorkerReport offering(Set<String> labels) {
        List<String> names = new ArrayList<>(queues);
        labels.stream().sorted().map(OFFER::concat).forEach(names::add);
        return new WorkerReport(name, names, types, concurrency, holding);
    }

    /** Creates a report of a worker that runs as many jobs of these types as its own limits allow. */
    public WorkerReport full(Set<String> atLimit) {
        List<String> all = new ArrayList<>(types);
        atLimit.stream().sorted().map(FULL::concat).forEach(all::add);
        return new WorkerReport(name, queues, all, concurrency, holding);
    }

    /** Returns the types of which the worker runs as many jobs as its own limits allow. */
    public Set<String> full() {
        return types.stream()
                .filter(type -> type.startsWith(FULL))
                .map(type -> type.substring(FULL.length()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the types that the worker has handlers for; {@link #ANY} for all. */
    public List<String> handled() {
        return types.stream().filter(type -> !type.startsWith(FULL)).toList();
    }

    /** Returns the labels that the worker offers to jobs that need them. */
    public Set<String> offers() {
        return queues.stream()
                .filter(name -> name.startsWith(OFFER))
                .map(name -> name.substring(OFFER.length()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the queues without the labels that the worker offers. */
    public List<String> named() {
        return queues.stream().filter(name -> !name.startsWith(OFFER)).toList();
    }

    /** Returns whether the worker serves this queue, and offers what its jobs need. */
    public boolean serves(String queue) {
        List<String> named = named();
        return named.contains(queue)
                || (Needs.areOffered(queue, offers()) && (named.isEmpty() || isNamed(named, Needs.base(queue))));
    }

    /** Returns whether the worker serves the queue beside which this one is, whatever it offers. */
    public boolean servesBase(String queue) {
        List<String> named = named();
        return named.isEmpty() || isNamed(named, Needs.base(queue));
    }

    private static boolean isNamed(List<String> names, String queue) {
        return names.stream().anyMatch(name -> isMeant(name, queue));
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
