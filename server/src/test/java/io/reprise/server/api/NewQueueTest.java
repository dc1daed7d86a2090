// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.server.auth.Quotas;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Counting the queues takes a second here, so the counts are kept for a while. */
class NewQueueTest {

    private final JobStore store = new InMemoryJobStore();
    private final Reprise reprise = Reprise.builder().store(store).start();
    private final Outgoing outgoing =
            new Outgoing(store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null);
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger counts = new AtomicInteger();
    private final Api api = new Api(
            reprise,
            store,
            outgoing.check(),
            outgoing.codec(),
            new Quotas(store, Quotas.Limits.DEFAULT, InstantSource.system()),
            Recent.behind(this::count, clock::get, task -> {}));

    @AfterEach
    void close() {
        reprise.close();
        outgoing.close();
    }

    private List<QueueState> count() {
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        counts.incrementAndGet();
        return store.queues();
    }

    private void enqueue(String queue) {
        store.insert(List.of(JobSpec.builder("bill", "{}").queue(queue).build()));
    }

    @Test
    void a_queue_that_is_newer_than_the_counts_is_found_with_its_counts() {
        enqueue("old");
        assertThat(api.queue("old")).isPresent();
        enqueue("new");
        assertThat(api.queue("new"))
                .hasValueSatisfying(
                        queue -> assertThat(queue.count(JobState.PENDING)).isEqualTo(1));
        assertThat(api.queues().get()).extracting(QueueState::name).containsExactlyInAnyOrder("old", "new");
        assertThat(counts).hasValue(2);
    }

    @Test
    void a_new_queue_whose_only_job_has_ended_is_found() {
        enqueue("old");
        assertThat(api.queue("old")).isPresent();
        enqueue("new");
        reprise.as("ada", "test")
                .cancel(store.find(JobQuery.all().queue("new")).items().get(0).id());
        assertThat(api.queue("new")).isPresent();
    }

    @Test
    void names_that_have_no_job_cost_no_count() {
        enqueue("old");
        assertThat(api.queue("old")).isPresent();
        assertThat(api.queue("guessed")).isEmpty();
        assertThat(api.queue("guessed-too")).isEmpty();
        assertThat(counts).hasValue(1);
    }
}
