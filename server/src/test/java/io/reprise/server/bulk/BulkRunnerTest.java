// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Bulk;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.server.bulk.BulkJob.State;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BulkRunnerTest {

    private static final JobType<String> WORK = JobType.of("work", String.class);
    private static final int LONG = 6_000;

    private final JobStore memory = new InMemoryJobStore();

    /** The queue of each chunk, in the order in which they began. */
    private final List<String> chunks = new CopyOnWriteArrayList<>();

    private final CountDownLatch open = new CountDownLatch(1);
    private final CountDownLatch third = new CountDownLatch(1);
    private final JobStore store = (JobStore) Proxy.newProxyInstance(
            JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                if (method.getName().equals("cancelAll")) {
                    JobId first = (JobId) ((Collection<?>) args[0]).iterator().next();
                    String queue = memory.find(first).orElseThrow().queue();
                    boolean again = chunks.contains(queue);
                    chunks.add(queue);
                    open.await();
                    if (queue.equals("c")) {
                        third.countDown();
                    } else if (again) {
                        assertThat(third.await(1, TimeUnit.MINUTES))
                                .as("a turn of the third between two chunks of the others")
                                .isTrue();
                    }
                }
                try {
                    return method.invoke(memory, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    private final BulkRunner runner = new BulkRunner(store);
    private Reprise reprise;

    @BeforeEach
    void start() {
        reprise = Reprise.builder().store(store).codec(new JacksonCodec()).start();
    }

    @AfterEach
    void stop() {
        open.countDown();
        third.countDown();
        runner.close();
        reprise.close();
    }

    private void cancelAll(String queue, int jobs) {
        reprise.enqueueAll(Stream.generate(() -> WORK.job("x").queue(queue).after(Duration.ofHours(1)))
                .limit(jobs)
                .toList());
        Instant now = memory.now();
        BulkJob job = new BulkJob(
                queue,
                new BulkJob.Order("cancel", "state:pending", "somebody", null, now),
                State.RUNNING,
                jobs,
                false,
                new BulkJob.Progress(0, 0, 0),
                now,
                null,
                null);
        memory.putDocument(new Document(BulkJob.KIND, queue, 0, job.json()));
        assertThat(runner.start(
                        queue, reprise.as("somebody", null).all(JobQuery.all().queue(queue)), Bulk::cancel))
                .isTrue();
    }

    private BulkJob stored(String queue) {
        return BulkJob.read(memory.document(BulkJob.KIND, queue).orElseThrow());
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited for two minutes").isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** A search that finds few of very many jobs must not keep a request for minutes. */
    @Test
    void jobs_are_counted_up_to_a_number_and_for_a_time() {
        Bulk few = queued("few", 3);
        assertThat(BulkEndpoints.Counted.of(few, Bulk::cancel, Duration.ZERO))
                .isEqualTo(new BulkEndpoints.Counted(3, false));
        Bulk many = queued("many", JobQuery.MAX_LIMIT + 1);
        assertThat(BulkEndpoints.Counted.of(many, Bulk::cancel, Duration.ZERO))
                .isEqualTo(new BulkEndpoints.Counted(JobQuery.MAX_LIMIT, true));
        assertThat(BulkEndpoints.Counted.of(many, Bulk::cancel, Duration.ofMinutes(5)))
                .isEqualTo(new BulkEndpoints.Counted(JobQuery.MAX_LIMIT + 1, false));
        Bulk most = queued("most", 10_001);
        assertThat(BulkEndpoints.Counted.of(most, Bulk::cancel, Duration.ofMinutes(5)))
                .isEqualTo(new BulkEndpoints.Counted(10_000, true));
        assertThat(chunks).as("calls that cancel").isEmpty();
    }

    private Bulk queued(String queue, int jobs) {
        reprise.enqueueAll(
                Stream.generate(() -> WORK.job("x").queue(queue)).limit(jobs).toList());
        return reprise.as("ada", null).all(JobQuery.all().queue(queue));
    }

    @Test
    void long_bulks_of_two_tenants_let_a_short_one_of_a_third_go_between_their_chunks() {
        cancelAll("a", LONG);
        cancelAll("b", LONG);
        await(() -> chunks.size() == 2);
        cancelAll("c", 100);
        await(() -> runner.waiting() == 1);
        open.countDown();
        await(() -> Stream.of("a", "b", "c").allMatch(queue -> stored(queue).state() == State.DONE));
        assertThat(chunks.indexOf("c"))
                .as("turns: %s", chunks)
                .isLessThan(Math.min(chunks.lastIndexOf("a"), chunks.lastIndexOf("b")));
        assertThat(stored("a").progress().done()).isEqualTo(LONG);
        assertThat(stored("c").progress().done()).isEqualTo(100);
    }

    @Test
    void bulks_that_wait_for_their_turn_when_the_server_stops_say_so() {
        cancelAll("a", 100);
        cancelAll("b", 100);
        await(() -> chunks.size() == 2);
        cancelAll("c", 100);
        await(() -> runner.waiting() == 1);
        Thread stop = new Thread(runner::close, "stop");
        stop.start();
        await(() -> stored("c").state() == State.LOST);
        open.countDown();
        await(() -> !stop.isAlive());
        assertThat(stored("c").note()).isEqualTo("the server stopped");
        assertThat(chunks).doesNotContain("c");
    }
}
