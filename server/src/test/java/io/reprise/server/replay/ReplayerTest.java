// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.store.Document;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReplayerTest {

    @Test
    void a_replay_that_has_ended_goes_after_thirty_days() {
        ManualClock clock = new ManualClock();
        InMemoryJobStore store = new InMemoryJobStore(clock);
        String json = "{\"state\":\"DONE\",\"by\":\"ada\",\"createdAt\":\"%1$s\",\"endedAt\":\"%1$s\"}"
                .formatted(clock.instant());
        store.putDocument(new Document(PacedReplay.KIND, "r1", 0, json));
        try (Reprise reprise = Reprise.builder().store(store).start();
                Replayer replayer = new Replayer(reprise, store, new JacksonCodec(), "here", () -> 0)) {
            clock.advance(Duration.ofDays(29));
            replayer.step();
            assertThat(store.document(PacedReplay.KIND, "r1")).isPresent();
            clock.advance(Duration.ofDays(2));
            replayer.step();
            assertThat(store.document(PacedReplay.KIND, "r1")).isEmpty();
        }
    }
}
