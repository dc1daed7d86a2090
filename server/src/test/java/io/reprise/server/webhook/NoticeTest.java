// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.Alert;
import io.reprise.jackson.JacksonCodec;
import io.reprise.testing.InMemoryJobStore;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class NoticeTest {

    private static Notice notice(long token, Instant at) {
        return new Notice("wh", "failed", 17, token, "a", "q", null, null, 1, null, at, null, null);
    }

    @Test
    void two_events_that_no_run_brought_about_have_two_ids() {
        Instant first = Instant.parse("2026-01-01T00:00:00Z");
        assertThat(notice(0, first).messageId("a1", 1))
                .isEqualTo(notice(0, first).messageId("a1", 2))
                .isNotEqualTo(notice(0, first.plusSeconds(1)).messageId("a1", 1));
        assertThat(notice(3, first).messageId("a1", 1)).isEqualTo("evt_a1_17_3_failed");
    }

    @Test
    void alerts_of_two_types_that_are_raised_at_once_have_two_ids() {
        assertThat(alert("a").messageId("a1", 1))
                .isEqualTo(alert("a").messageId("a1", 2))
                .isNotEqualTo(alert("b").messageId("a1", 1))
                .hasSizeLessThan(100);
    }

    private static Notice alert(String type) {
        Alert alert = new Alert(Alert.Kind.DEAD_LETTERS, type, 2, 1, Instant.parse("2026-01-01T00:00:00Z"), null);
        return new Notice("wh", "alert", 0, 0, type, "", null, null, 0, null, alert.since(), null, alert);
    }

    @Test
    void the_ids_of_two_stores_differ() {
        InMemoryJobStore store = new InMemoryJobStore();
        String name = new Subscriptions(store, new JacksonCodec()).installation();
        assertThat(new Subscriptions(store, new JacksonCodec()).installation()).isEqualTo(name);
        assertThat(new Subscriptions(new InMemoryJobStore(), new JacksonCodec()).installation())
                .isNotEqualTo(name);
        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        assertThat(notice(3, now).messageId(name, 1))
                .isNotEqualTo(notice(3, now).messageId("other", 1));
    }
}
