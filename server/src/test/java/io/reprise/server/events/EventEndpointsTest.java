// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.insight.RetryView;
import io.reprise.job.JobId;
import io.reprise.server.auth.Quotas;
import io.reprise.server.http.Caller;
import io.reprise.server.http.EventSink;
import io.reprise.testing.InMemoryJobStore;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class EventEndpointsTest {

    private final EventLog log = new EventLog(0);
    private final List<String> sent = new CopyOnWriteArrayList<>();

    /** A client in whose hands something happens as soon as it has read anything. */
    private final EventSink client = new EventSink() {
        @Override
        public boolean send(String text) {
            sent.add(text);
            if (sent.size() == 1) {
                log.onControl(new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "api", Instant.EPOCH, "down"));
            }
            return true;
        }

        @Override
        public void close() {}

        @Override
        public void onEnd(Runnable action) {}
    };

    private static void await(BooleanSupplier condition) {
        for (int looks = 0; !condition.getAsBoolean(); looks++) {
            assertThat(looks).as("looks at a condition that never came true").isLessThan(60_000);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static final Quotas QUOTAS =
            new Quotas(new InMemoryJobStore(), Quotas.Limits.DEFAULT, InstantSource.system());

    @Test
    void who_has_read_the_beginning_of_the_answer_misses_nothing_from_then_on() {
        try (EventEndpoints endpoints = new EventEndpoints(log, QUOTAS)) {
            endpoints.start(client, null, entry -> true, Caller.ANYONE);
            await(() -> sent.size() == 2);
        }
        assertThat(sent).hasSize(2);
        assertThat(sent.get(1)).contains("event: BREAKER_OPENED");
    }

    private static JobEvent failed(String message, String trace) {
        Failure failure = Failure.reported("Error", null, null, message, null).withTrace(trace);
        return new JobEvent(
                JobEvent.Kind.FAILED,
                new JobId(1),
                "a",
                "q",
                null,
                1,
                Instant.EPOCH,
                null,
                null,
                null,
                null,
                failure,
                null,
                new RetryView(0, 3, true, null),
                null);
    }

    /** A client that has no time yet. */
    private static final class Slow implements EventSink {
        private final List<String> sent = new CopyOnWriteArrayList<>();
        private volatile boolean ready;

        @Override
        public boolean send(String text) {
            sent.add(text);
            return true;
        }

        @Override
        public boolean isReady() {
            return ready;
        }

        @Override
        public void close() {}

        @Override
        public void onEnd(Runnable action) {}
    }

    @Test
    void traces_are_not_told_and_long_events_push_others_out() {
        for (int i = 0; i < 10_000; i++) {
            log.onEvent(failed("x".repeat(2_000), "t".repeat(16_000)));
        }
        Slow slow = new Slow();
        slow.ready = true;
        try (EventEndpoints endpoints = new EventEndpoints(log, QUOTAS)) {
            endpoints.start(slow, "x-0", entry -> true, Caller.ANYONE);
            await(() -> slow.sent.get(slow.sent.size() - 1).contains("-10000\n"));
        }
        assertThat(slow.sent).noneMatch(text -> text.contains("ttt"));
        assertThat(slow.sent.stream().mapToLong(String::length).sum()).isLessThan(20 << 20);
    }

    @Test
    void a_follow_up_rule_that_fails_is_told_as_an_alert() {
        Slow reader = new Slow();
        reader.ready = true;
        try (EventEndpoints endpoints = new EventEndpoints(log, QUOTAS)) {
            endpoints.start(reader, null, entry -> true, Caller.ANYONE);
            log.onFollowUpFailure(JobEvent.Kind.SUCCEEDED, new JobId(17), new IllegalStateException("no such host"));
            await(() -> reader.sent.stream().anyMatch(text -> text.contains("event: ALERT")));
        }
        assertThat(reader.sent)
                .anySatisfy(text -> assertThat(text)
                        .contains("event: ALERT", "\"kind\":\"FOLLOW_UP_FAILED\"", "job 17", "no such host"));
    }

    @Test
    void a_client_that_falls_behind_costs_no_memory_and_is_told_what_it_missed() {
        Slow slow = new Slow();
        try (EventEndpoints endpoints = new EventEndpoints(log, QUOTAS)) {
            endpoints.start(slow, null, entry -> true, Caller.ANYONE);
            for (int i = 0; i < 20_000; i++) {
                log.onEvent(failed("x", ""));
            }
            assertThat(slow.sent).as("the beginning of the answer").hasSize(1);
            slow.ready = true;
            await(() -> slow.sent.get(slow.sent.size() - 1).contains("-20000\n"));
        }
        assertThat(slow.sent.get(1)).contains("event: reset");
        assertThat(slow.sent)
                .filteredOn(text -> !text.equals(": \n\n"))
                .as("without heartbeats")
                .hasSize(10_002);
    }
}
