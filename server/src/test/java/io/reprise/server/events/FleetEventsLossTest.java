// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.WorkerReport;
import io.reprise.store.EventPages;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A stream that misses events is told so. */
class FleetEventsLossTest {

    private static final Duration LIFE = Duration.ofSeconds(30);

    private final ManualClock clock = new ManualClock();
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final EventLog log = new EventLog(1);
    private final FleetEvents fleet = new FleetEvents(store, "server", log);
    private final AtomicInteger resets = new AtomicInteger();
    private final List<String> told = new CopyOnWriteArrayList<>();

    private void listen() {
        Runnable unused = log.subscribe(null, new EventLog.Reader() {
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
                told.add(String.valueOf(entry.job()));
            }
        });
        fleet.start();
        await(() -> new EventPages(store, "x").isHeard());
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
        long at = clock.instant().toEpochMilli() * 1_000;
        new EventPages(store, "worker")
                .append(List.of("{\"kind\":\"STARTED\",\"id\":\"" + id + "\",\"at\":" + at + "}"));
    }

    @Test
    void a_process_that_was_killed_may_have_had_more_to_tell() {
        store.checkIn(new WorkerReport("worker", List.of(), List.of(), 1, 0), LIFE);
        listen();
        append("1");
        clock.advance(Duration.ofSeconds(1));
        await(() -> told.contains("1"));
        assertThat(resets).hasValue(0);
        clock.advance(LIFE);
        await(() -> resets.get() == 1);
    }

    @Test
    void a_process_that_said_goodbye_has_told_everything() {
        store.checkIn(new WorkerReport("worker", List.of(), List.of(), 1, 0), LIFE);
        listen();
        append("1");
        clock.advance(Duration.ofSeconds(1));
        await(() -> told.contains("1"));
        store.checkOut("worker");
        append("2");
        clock.advance(Duration.ofSeconds(1));
        await(() -> told.contains("2"));
        assertThat(resets).hasValue(0);
    }

    @Test
    void what_a_process_could_not_keep_is_told_as_missing() {
        listen();
        new EventPages(store, "worker").appendMark();
        await(() -> resets.get() == 1);
    }
}
