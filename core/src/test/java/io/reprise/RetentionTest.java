// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is old goes as fast as it comes. */
class RetentionTest {

    @Test
    void all_that_is_old_goes_in_one_round_however_much_it_is() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.keepFinished(Duration.ofMinutes(1)).concurrency(1_000))) {
            engine.reprise.enqueueAll(Collections.nCopies(20_000, WORK.job("x")));
            engine.worker.advance(Duration.ofSeconds(50));
            assertThat(engine.ran).hasSize(20_000);
            assertThat(engine.reprise.find(JobQuery.all()).items()).isNotEmpty();
            engine.worker.advance(Duration.ofSeconds(70));
            assertThat(engine.reprise.find(JobQuery.all()).items()).isEmpty();
        }
    }

    @Test
    void the_audit_log_is_kept_as_long_as_it_was_told() {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, builder -> builder.keepAudit(Duration.ofHours(1)))) {
            engine.reprise.as("ada", "why").pause("default");
            engine.worker.advance(Duration.ofMinutes(59));
            assertThat(engine.memory.audit(null, 10)).hasSize(1);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(engine.memory.audit(null, 10)).isEmpty();
        }
    }

    @Test
    void what_is_exactly_as_old_as_the_limit_is_kept() {
        ManualClock clock = new ManualClock();
        InMemoryJobStore store = new InMemoryJobStore(clock);
        JobId id = store.insert(List.of(JobSpec.builder("work", "{}").build()))
                .get(0)
                .id();
        store.cancel(id, new AuditNote("ada", null));
        clock.advance(Duration.ofSeconds(1));
        assertThat(store.prune(Set.of(JobState.CANCELLED), Duration.ofSeconds(1), 10))
                .isZero();
        assertThat(store.pruneAudit(Duration.ofSeconds(1), 10)).isZero();
        clock.advance(Duration.ofNanos(1_000));
        assertThat(store.prune(Set.of(JobState.CANCELLED), Duration.ofSeconds(1), 10))
                .isEqualTo(1);
        assertThat(store.pruneAudit(Duration.ofSeconds(1), 10)).isEqualTo(1);
    }
}
