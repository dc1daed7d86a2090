// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.Transaction;
import io.reprise.step.Checkpoint;
import io.reprise.store.JobWriter;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * A transaction of an {@link InMemoryJobStore}, for tests of code that enqueues in transactions. Jobs are visible before
 * the commit, and {@link #rollback} removes them; outcomes are written by {@link #commit}. So move no clock while it is
 * open. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class InMemoryTransaction implements Transaction {

    private final List<Runnable> onCommit = new ArrayList<>();
    private final List<Runnable> onRollback = new ArrayList<>();

    /** Creates an open transaction. */
    public InMemoryTransaction() {}

    /** Writes the outcomes. A second call does nothing. */
    public void commit() {
        onRollback.clear();
        run(onCommit);
    }

    /** Removes the jobs that were stored in this transaction. A second call does nothing. */
    public void rollback() {
        onCommit.clear();
        run(onRollback);
    }

    private static void run(List<Runnable> tasks) {
        List<Runnable> now = List.copyOf(tasks);
        tasks.clear();
        now.forEach(Runnable::run);
    }

    /** Writes to a store in this transaction. */
    JobWriter writer(InMemoryJobStore store) {
        return new JobWriter() {
            @Override
            public List<Enqueued> insert(List<JobSpec> specs) {
                List<Enqueued> inserted = store.insert(specs);
                List<JobId> fresh = inserted.stream()
                        .filter(Enqueued::created)
                        .map(Enqueued::id)
                        .toList();
                onRollback.add(() -> fresh.forEach(store::forget));
                return inserted;
            }

            @Override
            public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
                onCommit.add(() -> store.settle(settlements, closing));
                return new Settled(store.now(), Set.of(), Set.of());
            }

            @Override
            public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
                onCommit.add(() -> store.checkpoint(checkpoints));
                return store.look(checkpoints);
            }
        };
    }
}
