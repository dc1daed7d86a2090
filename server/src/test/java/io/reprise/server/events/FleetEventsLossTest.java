// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.events.EventPages;
import io.reprise.job.JobId;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A stream that misses events is told so. */
class FleetEventsLossTest {

    private final ManualClock clock = new ManualClock();
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final EventLog log = new EventLog(1);
    private final FleetEvents fleet = new FleetEvents(store, "server", log);
    private final AtomicInteger resets = new AtomicInteger();
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final List<String> sent = new CopyOnWriteArrayList<>();

    private void listen() {
        Runnable unused = log.subscribe(null, reading(told, sent));
        fleet.start();
        await(() -> new EventPages(store, "x").isHeard());
    }

    private EventLog.Reader reading(List<String> jobs, List<String> ids) {
        return new EventLog.Reader() {
            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void missed(String id) {
                resets.incrementAndGet();
            }

            @Override
            public void read(EventLog.Entry entry) {
                jobs.add(String.valueOf(entry.job()));
                ids.add(entry.page() + ".1-" + entry.number());
            }
        };
    }

    private String text(String id) {
        long at = clock.instant().toEpochMilli() * 1_000;
        return "{\"kind\":\"STARTED\",\"id\":\"" + id + "\",\"at\":" + at + "}";
    }

    @AfterEach
    void close() {
        fleet.close();
        log.close();
    }

    private static void await(BooleanSupplier condition) {
        for (int looks = 0; !condition.getAsBoolean(); looks++) {
            assertThat(looks).as("looks at a condition that never came true").isLessThan(60_000);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private void append(String id) {
        new EventPages(store, "worker").append(List.of(text(id)));
    }

    @Test
    void what_follows_a_page_that_is_not_filled_yet_is_told_after_it() {
        listen();
        EventPages worker = new EventPages(store, "worker");
        EventPages.EventPage open = worker.reserve(
                List.of(text("1")),
                new EventPages.Pending(clock.instant(), List.of(new EventPages.Subject(new JobId(2), 1)), false));
        append("3");
        assertThat(worker.fill(open, List.of(text("1"), text("2")))).isTrue();
        await(() -> told.size() == 3);
        assertThat(told).containsExactly("1", "2", "3");
        assertThat(worker.fill(open, List.of())).as("only the first fills it").isFalse();
        assertThat(resets).hasValue(0);
    }

    @Test
    void a_stream_goes_on_within_a_page() {
        listen();
        EventPages worker = new EventPages(store, "worker");
        worker.append(List.of(text("1"), text("2"), text("3")));
        worker.append(List.of(text("4")));
        await(() -> told.size() == 4);
        List<String> ids = List.copyOf(sent);
        List<String> again = new CopyOnWriteArrayList<>();
        EventLog elsewhere = new EventLog(2);
        try (elsewhere;
                FleetEvents reader = new FleetEvents(store, "another", elsewhere)) {
            reader.start();
            Runnable unused = elsewhere.subscribe(ids.get(1), reading(again, new CopyOnWriteArrayList<>()));
            await(() -> again.contains("4"));
            assertThat(again).as("at least what was not seen").contains("3", "4");
        }
        assertThat(resets).hasValue(0);
    }

    @Test
    void many_streams_that_go_on_at_once_do_not_keep_those_of_others_waiting() throws Exception {
        listen();
        append("1");
        append("2");
        await(() -> told.size() == 2);
        String id = sent.get(0).replace(".1-", ".x-");
        CountDownLatch busy = new CountDownLatch(1);
        fleet.soon(() -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        List<String> again = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 2; i++) {
            Runnable unused = log.subscribe(id, reading(again, new CopyOnWriteArrayList<>()));
        }
        assertThat(resets).hasValue(0);
        Runnable unused = log.subscribe(id, reading(new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>()));
        await(() -> resets.get() == 1);
        busy.countDown();
        await(() -> again.size() == 2);
        assertThat(resets).as("the first two went on").hasValue(1);
    }

    @Test
    void a_process_that_stood_still_does_not_wait_for_pages_that_are_deleted() {
        Runnable unused = log.subscribe(null, reading(told, sent));
        fleet.follow();
        for (int i = 0; i < EventPages.KEPT + 3; i++) {
            append(Integer.toString(i));
        }
        fleet.follow();
        await(() -> told.contains(Integer.toString(EventPages.KEPT + 2)));
        assertThat(resets).hasPositiveValue();
        assertThat(told).hasSize(EventPages.KEPT);
    }

    @Test
    void what_a_process_could_not_keep_is_told_as_missing() {
        listen();
        new EventPages(store, "worker").appendMark();
        await(() -> resets.get() == 1);
    }
}
