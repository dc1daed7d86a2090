// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that many threads look for one by one, read together: while one group is read the next gathers. No thread waits for
 * company: one that comes when nothing is being read goes at once, alone. Each sees its job as it was after it had asked.
 * Thread-safe.
 */
public final class FindGroup {

    private static final int MAX_GROUP = 100;

    private static final class Ticket {
        private final JobId id;
        private @Nullable Job found;
        private @Nullable RuntimeException failure;
        private boolean done;

        Ticket(JobId id) {
            this.id = id;
        }
    }

    private final Function<Collection<JobId>, List<Job>> store;
    private final List<Ticket> waiting = new ArrayList<>();
    private boolean reading;

    public FindGroup(Function<Collection<JobId>, List<Job>> store) {
        this.store = store;
    }

    public Optional<Job> find(JobId id) {
        Ticket mine = new Ticket(id);
        List<Ticket> group = begin(mine);
        while (!group.isEmpty()) {
            read(group);
            group = next(mine);
        }
        if (mine.failure != null) {
            throw mine.failure;
        }
        return Optional.ofNullable(mine.found);
    }

    private synchronized List<Ticket> begin(Ticket mine) {
        waiting.add(mine);
        return next(mine);
    }

    /** Waits until the job is read, or this thread is to read: then returns the group. */
    private synchronized List<Ticket> next(Ticket mine) {
        boolean interrupted = false;
        while (!mine.done && reading) {
            try {
                wait();
            } catch (InterruptedException e) {
                // The one who reads answers soon, since every statement has a limit.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (mine.done) {
            return List.of();
        }
        reading = true;
        List<Ticket> some = waiting.subList(0, Math.min(MAX_GROUP, waiting.size()));
        List<Ticket> group = List.copyOf(some);
        some.clear();
        return group;
    }

    private void read(List<Ticket> group) {
        Map<JobId, Job> found = new HashMap<>();
        RuntimeException failure = new IllegalStateException("The job could not be read");
        try {
            store.apply(group.stream().map(ticket -> ticket.id).distinct().toList())
                    .forEach(job -> found.put(job.id(), job));
            failure = null;
        } catch (RuntimeException e) {
            failure = e;
        } finally {
            end(group, found, failure);
        }
    }

    private synchronized void end(List<Ticket> group, Map<JobId, Job> found, @Nullable RuntimeException failure) {
        for (Ticket ticket : group) {
            ticket.found = found.get(ticket.id);
            ticket.failure = failure;
            ticket.done = true;
        }
        reading = false;
        notifyAll();
    }
}
