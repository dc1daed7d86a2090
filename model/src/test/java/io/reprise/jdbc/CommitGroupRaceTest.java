// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.internal.Race;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Single enqueues that share commits: everybody gets the answer to their own job, and nobody sleeps for ever. */
class CommitGroupRaceTest {

    private static final JobSpec ONE = JobSpec.builder("work", "1").build();
    private static final JobSpec TWO = JobSpec.builder("work", "2").build();

    private static List<Enqueued> store(List<JobSpec> jobs) {
        List<Enqueued> stored = new ArrayList<>();
        for (JobSpec job : jobs) {
            stored.add(new Enqueued(new JobId(Long.parseLong(job.payload())), true, Instant.EPOCH));
        }
        return stored;
    }

    private static void race(Function<JobSpec, Enqueued> insert) {
        Race.together(
                () -> Race.require(insert.apply(ONE).id().value() == 1, "the answer to another job"),
                () -> Race.require(insert.apply(TWO).id().value() == 2, "the answer to another job"));
    }

    @Test
    void everybody_gets_their_own_answer() {
        Race.inManyOrders(() -> race(new CommitGroup<>(CommitGroupRaceTest::store)::write));
    }

    @Test
    void everybody_gets_their_own_answer_from_two_writers() {
        Race.inManyOrders(() -> race(new CommitGroup<>(2, CommitGroupRaceTest::store)::write));
    }

    /** The same hand-over, but a ticket is done before its answer is there. */
    private static final class Hasty {
        private final ConcurrentLinkedQueue<Ticket> waiting = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean writing = new AtomicBoolean();

        private static final class Ticket {
            private final JobSpec job;
            private volatile boolean done;
            private volatile @Nullable Enqueued answer;

            Ticket(JobSpec job) {
                this.job = job;
            }
        }

        Enqueued insert(JobSpec job) {
            Ticket mine = new Ticket(job);
            waiting.add(mine);
            while (!mine.done) {
                if (writing.compareAndSet(false, true)) {
                    for (Ticket next = waiting.poll(); next != null; next = waiting.poll()) {
                        next.done = true;
                        next.answer = store(List.of(next.job)).get(0);
                    }
                    writing.set(false);
                }
            }
            return Objects.requireNonNull(mine.answer);
        }
    }

    @Test
    void an_answer_that_comes_too_late_is_caught() {
        assertThatThrownBy(() -> Race.untilItFails(() -> race(new Hasty()::insert)))
                .isInstanceOf(LincheckAssertionError.class);
    }
}
