// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class NoticeTest {

    private static Notice notice(long token, Instant at) {
        return new Notice("wh", "failed", 17, token, "a", "q", null, null, 1, null, at, null, null);
    }

    @Test
    void two_events_that_no_run_brought_about_have_two_ids() {
        Instant first = Instant.parse("2026-01-01T00:00:00Z");
        assertThat(notice(0, first).messageId(1))
                .isEqualTo(notice(0, first).messageId(2))
                .isNotEqualTo(notice(0, first.plusSeconds(1)).messageId(1));
        assertThat(notice(3, first).messageId(1)).isEqualTo("evt_17_3_failed");
    }
}
