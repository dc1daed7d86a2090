// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.events.EventPages;
import io.reprise.insight.Alert;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Live workers, and alerts. */
public interface WorkerContract extends StoreFixture {

    private static WorkerReport report(String name, int holding) {
        return new WorkerReport(name, List.of("mail", "default"), List.of("send", "call"), 10, holding)
                .offering(Set.of("gpu"))
                .full(Set.of("send"));
    }

    @Test
    default void a_worker_that_checked_in_lives() {
        store().checkIn(report("worker-2", 3), TestClaims.LONG);
        store().checkIn(new WorkerReport("worker-1", List.of(), List.of(), 1, 0), TestClaims.LONG);
        List<WorkerState> workers = store().workers();
        assertThat(workers).extracting(WorkerState::name).containsExactly("worker-1", "worker-2");
        assertThat(workers.get(1).report()).isEqualTo(report("worker-2", 3));
        assertThat(workers.get(0).report().queues()).isEmpty();
        assertThat(workers.get(1).since()).isEqualTo(workers.get(1).seenAt()).isBeforeOrEqualTo(store().now());
    }

    @Test
    default void checking_in_again_keeps_the_beginning() {
        store().checkIn(report("worker-1", 0), TestClaims.LONG);
        Instant since = store().workers().get(0).since();
        awaitNextInstant();
        store().checkIn(report("worker-1", 5), TestClaims.LONG);
        WorkerState worker = store().workers().get(0);
        assertThat(worker.report().holding()).isEqualTo(5);
        assertThat(worker.since()).isEqualTo(since);
        assertThat(worker.seenAt()).isAfter(since);
    }

    @Test
    default void a_worker_that_fell_silent_is_gone_and_may_begin_anew() {
        store().checkIn(report("worker-1", 0), Duration.ofMillis(1));
        Instant since = store().now();
        await(() -> store().workers().isEmpty());
        store().maintain();
        awaitNextInstant();
        store().checkIn(report("worker-1", 0), TestClaims.LONG);
        assertThat(store().workers()).hasSize(1);
        assertThat(store().workers().get(0).since()).isAfter(since);
    }

    @Test
    default void a_worker_that_checked_out_is_gone() {
        store().checkIn(report("worker-1", 0), TestClaims.LONG);
        store().checkIn(report("worker-2", 0), TestClaims.LONG);
        store().checkOut("worker-1");
        store().checkOut("nobody");
        assertThat(store().workers()).extracting(WorkerState::name).containsExactly("worker-2");
    }

    @Test
    default void an_alert_is_raised_once_and_cleared_once() {
        Instant now = store().now().truncatedTo(ChronoUnit.MILLIS);
        Alert alert = new Alert(Alert.Kind.RETRY_RATE, "send", 0.25, 0.1, now, null);
        Alert later = new Alert(Alert.Kind.RETRY_RATE, "send", 0.5, 0.2, now.plusSeconds(1), null);
        Alert other = new Alert(Alert.Kind.RETRY_COUNT, "send", 11, 10, now, null);
        assertThat(store().raise(alert)).isTrue();
        assertThat(store().raise(later)).isFalse();
        assertThat(store().raise(other)).isTrue();
        assertThat(store().alerts()).containsExactly(other, alert);
        assertThat(store().clear(alert)).isTrue();
        assertThat(store().clear(alert)).isFalse();
        assertThat(store().alerts()).containsExactly(other);
        assertThat(store().raise(later)).isTrue();
    }

    /** A reader goes on by number, so a number that appears after a greater one would be overlooked. */
    @Test
    default void pages_of_events_have_consecutive_numbers_however_many_processes_write_them() {
        int writers = 4;
        int each = 10;
        new EventPages(store(), "reader").listen(TestClaims.LONG);
        List<CompletableFuture<Void>> done = IntStream.range(0, writers)
                .mapToObj(writer -> CompletableFuture.runAsync(() -> {
                    EventPages pages = new EventPages(store(), "writer-" + writer);
                    for (int i = 0; i < each; i++) {
                        pages.append(List.of("{\"writer\":" + writer + ",\"n\":" + i + "}"));
                    }
                }))
                .toList();
        done.forEach(CompletableFuture::join);
        List<EventPages.EventPage> pages = new EventPages(store(), "reader").read(0, 100);
        assertThat(pages)
                .extracting(EventPages.EventPage::number)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 1 + writers * each).boxed().toList());
        assertThat(pages.get(0).isMark()).isTrue();
        for (int writer = 0; writer < writers; writer++) {
            String name = "writer-" + writer;
            int number = writer;
            assertThat(pages.stream()
                            .filter(page -> page.writer().equals(name))
                            .flatMap(page -> page.events().stream()))
                    .containsExactlyElementsOf(IntStream.range(0, each)
                            .mapToObj(i -> "{\"writer\":" + number + ",\"n\":" + i + "}")
                            .toList());
        }
        assertThat(new EventPages(store(), "another").isHeard()).isTrue();
    }
}
