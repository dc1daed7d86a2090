// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Group commit for what many threads store one by one, such as jobs: while as many groups are written as there may be at
 * once, the next group gathers. If fewer are written, an item is written at once, alone. Each caller returns after the commit of its item.
 * Thread-safe.
 */
final class CommitGroup<T, R> {

    private static final int MAX_GROUP = 200;

    private final Function<List<T>, List<R>> store;
    private final Queue<Ticket<T, R>> waiting = new ConcurrentLinkedQueue<>();
    private final Semaphore writers;

    /**
     * Creates one that writes one group after another.
     *
     * @param store answers the items in their order. It may leave out the last ones, which follow in the next call
     */
    CommitGroup(Function<List<T>, List<R>> store) {
        this(1, store);
    }

    /**
     * Creates one.
     *
     * @param writers how many groups are written at once. A second one is worthwhile where its statements run while the
     *     first one waits for the disk
     */
    CommitGroup(int writers, Function<List<T>, List<R>> store) {
        this.writers = new Semaphore(writers);
        this.store = store;
    }

    private static final class Ticket<T, R> {
        private final T item;
        private final Thread thread = Thread.currentThread();
        private @Nullable R answer;
        private @Nullable RuntimeException failure;
        private volatile boolean done;

        Ticket(T item) {
            this.item = item;
        }

        void end(@Nullable R stored, @Nullable RuntimeException thrown) {
            answer = stored;
            failure = thrown;
            done = true;
            LockSupport.unpark(thread);
        }

        R answer() {
            if (failure != null) {
                throw failure;
            }
            return java.util.Objects.requireNonNull(answer);
        }
    }

    R write(T item) {
        Ticket<T, R> mine = new Ticket<>(item);
        waiting.add(mine);
        boolean interrupted = false;
        while (!mine.done) {
            // If nothing waits, another thread writes this item and wakes this one.
            if (!waiting.isEmpty() && writers.tryAcquire()) {
                try {
                    write();
                } finally {
                    writers.release();
                    wakeNext();
                }
            } else {
                LockSupport.park(this);
                // Whether the item is stored is unknown until the commit, so an interrupt has to wait.
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return mine.answer();
    }

    /** Wakes the first waiting thread. A thread joins the queue before it tries to write, so none is overlooked. */
    private void wakeNext() {
        Ticket<T, R> next = waiting.peek();
        if (next != null) {
            LockSupport.unpark(next.thread);
        }
    }

    private void write() {
        List<Ticket<T, R>> group = new ArrayList<>();
        Ticket<T, R> next = waiting.poll();
        while (next != null) {
            group.add(next);
            next = group.size() < MAX_GROUP ? waiting.poll() : null;
        }
        if (!group.isEmpty()) {
            write(group);
        }
    }

    private void write(List<Ticket<T, R>> group) {
        List<Ticket<T, R>> left = group;
        while (!left.isEmpty()) {
            left = left.subList(writeFirst(left), left.size());
        }
    }

    /** Returns how many of the items have ended, at least one. */
    private int writeFirst(List<Ticket<T, R>> group) {
        try {
            List<R> answers =
                    store.apply(group.stream().map(ticket -> ticket.item).toList());
            for (int i = 0; i < answers.size(); i++) {
                group.get(i).end(answers.get(i), null);
            }
            return answers.size();
        } catch (RuntimeException e) {
            boolean refused = !(e instanceof StoreException failed && failed.isTransient());
            if (refused && group.size() > 1) {
                // The store refused one of the items. Each is written alone, so that the others are stored.
                writeEach(group);
            } else {
                group.forEach(ticket -> ticket.end(null, e));
            }
            return group.size();
        } catch (Error e) {
            group.forEach(ticket -> ticket.end(null, new IllegalStateException("It may not have been stored", e)));
            throw e;
        }
    }

    /** An {@code Error} ends the tickets that are left too: nobody else would end them. */
    private void writeEach(List<Ticket<T, R>> group) {
        try {
            group.forEach(ticket -> write(List.of(ticket)));
        } catch (Error e) {
            group.stream()
                    .filter(ticket -> !ticket.done)
                    .forEach(ticket -> ticket.end(null, new IllegalStateException("It was not stored", e)));
            throw e;
        }
    }
}
