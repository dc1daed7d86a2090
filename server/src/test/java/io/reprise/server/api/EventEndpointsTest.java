// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.ControlEvent;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Caller;
import io.reprise.server.http.EventSink;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventEndpointsTest {

    private final EventLog log = new EventLog(0);
    private final List<String> sent = new ArrayList<>();

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

    @Test
    void who_has_read_the_beginning_of_the_answer_misses_nothing_from_then_on() {
        try (EventEndpoints endpoints = new EventEndpoints(log)) {
            endpoints.start(client, null, entry -> true, Tenancy.of(Caller.ANYONE));
        }
        assertThat(sent).hasSize(2);
        assertThat(sent.get(1)).contains("event: BREAKER_OPENED");
    }
}
