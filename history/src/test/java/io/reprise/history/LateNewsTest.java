// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.history.HistoryEvent.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that are killed or frozen between a call and telling of it: what the others saw counts. */
class LateNewsTest {

    private final JobHistory history = new JobHistory();

    private void add(Kind kind, long from, long until, String who, long token, String... details) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < details.length; i += 2) {
            map.put(details[i], details[i + 1]);
        }
        history.add(new HistoryEvent(kind, from, until, who, 1, token, map));
    }

    private void enqueued() {
        add(Kind.ENQUEUED, 1, 2, "client", 0, "created", "true", "attempts", "3", "losses", "9");
    }

    private void claimed(long from, long until, String who, long token) {
        add(Kind.CLAIMED, from, until, who, token, "lease", "1", "queue", "default", "alone", "false");
    }

    private void takenOver(long at, String who, long token, long lost, String loser) {
        String lostToken = Long.toString(lost);
        add(Kind.TAKEN_OVER, at, at + 1, who, token, "lost", lostToken, "loser", loser, "lease", "1", "alone", "false");
    }

    private void lost(long at, String who, long token) {
        add(Kind.ACCEPTED, at, at + 1, who, token, "spent", "LOSS", "next", "Wait");
    }

    private void succeeded(long at, String who, long token) {
        add(Kind.ACCEPTED, at, at + 1, who, token, "spent", "ATTEMPT", "next", "Succeed");
    }

    private List<Violation> found() {
        add(
                Kind.ROW,
                90,
                90,
                "store",
                0,
                "state",
                "SUCCEEDED",
                "attempts",
                "1",
                "losses",
                "1",
                "interruptions",
                "0",
                "snoozes",
                "0",
                "granted",
                "0");
        return HistoryChecker.check(history, Duration.ZERO, true);
    }

    @Test
    void a_take_over_by_one_who_died_before_telling_of_it() {
        enqueued();
        claimed(10, 11, "first", 1);
        // Token 2 went to a worker that was killed.
        takenOver(30, "third", 3, 2, "first");
        lost(40, "third", 3);
        claimed(50, 51, "fourth", 4);
        succeeded(60, "fourth", 4);
        assertThat(found()).isEmpty();
    }

    @Test
    void a_claim_that_its_frozen_worker_tells_of_when_it_is_over() {
        enqueued();
        takenOver(20, "heir", 2, 1, "frozen");
        lost(30, "heir", 2);
        claimed(10, 40, "frozen", 1);
        claimed(50, 51, "heir", 3);
        succeeded(60, "heir", 3);
        assertThat(found()).isEmpty();
    }

    @Test
    void a_take_over_that_is_told_of_after_the_next_one() {
        enqueued();
        // Token 1 went to a worker that was killed.
        takenOver(30, "third", 3, 2, "first");
        add(Kind.TAKEN_OVER, 20, 45, "second", 2, "lost", "1", "loser", "first", "lease", "1", "alone", "false");
        lost(50, "third", 3);
        claimed(60, 61, "fourth", 4);
        succeeded(70, "fourth", 4);
        assertThat(found()).isEmpty();
    }

    @Test
    void a_claim_that_is_told_of_after_it_was_taken_over_by_one_who_died() {
        enqueued();
        // Token 1 went to a worker that stands still, token 2 to one that was killed.
        takenOver(30, "third", 3, 2, "first");
        lost(35, "third", 3);
        claimed(10, 40, "first", 1);
        claimed(50, 51, "fourth", 4);
        succeeded(60, "fourth", 4);
        assertThat(found()).isEmpty();
    }

    @Test
    void an_outcome_of_that_worker_is_still_one_too_many() {
        enqueued();
        takenOver(20, "heir", 2, 1, "frozen");
        lost(30, "heir", 2);
        claimed(10, 40, "frozen", 1);
        succeeded(60, "frozen", 1);
        assertThat(found()).extracting(Violation::rule).contains("stale outcome");
    }

    /** Lost twice, each time after it was claimed with others; the third claim has it alone. */
    private void becomesSuspect() {
        enqueued();
        claimed(10, 11, "first", 1);
        takenOver(20, "sweeper", 2, 1, "first");
        lost(22, "sweeper", 2);
        claimed(24, 25, "second", 3);
        takenOver(30, "sweeper", 4, 3, "second");
        lost(32, "sweeper", 4);
        add(Kind.CLAIMED, 34, 35, "third", 5, "lease", "1", "queue", "default", "alone", "true");
    }

    @Test
    void an_attempt_of_one_who_died_before_telling_of_it_clears_a_suspect() {
        becomesSuspect();
        add(Kind.OFFERED, 40, 40, "third", 5, "spent", "ATTEMPT", "next", "Wait");
        claimed(50, 51, "fourth", 6);
        succeeded(60, "fourth", 6);
        assertThat(found()).isEmpty();
    }

    @Test
    void a_suspect_is_claimed_alone() {
        becomesSuspect();
        add(Kind.ACCEPTED, 40, 41, "third", 5, "spent", "SNOOZE", "next", "Wait");
        claimed(50, 51, "fourth", 6);
        succeeded(60, "fourth", 6);
        assertThat(found()).extracting(Violation::rule).contains("suspect");
    }

    @Test
    void a_refusal_before_anybody_took_over_is_untrue() {
        enqueued();
        claimed(10, 11, "first", 1);
        add(Kind.REFUSED, 20, 21, "first", 1);
        takenOver(30, "heir", 2, 1, "first");
        lost(40, "heir", 2);
        claimed(50, 51, "heir", 3);
        add(Kind.LEASE_LOST, 60, 61, "heir", 3);
        takenOver(70, "first", 4, 3, "heir");
        assertThat(HistoryChecker.check(history, Duration.ZERO, false))
                .extracting(Violation::rule)
                .filteredOn("untrue refusal"::equals)
                .hasSize(2);
    }

    @Test
    void a_refusal_after_a_take_over_by_one_who_died_before_telling_of_it_is_true() {
        enqueued();
        claimed(10, 11, "first", 1);
        // Token 2 went to a worker that was killed.
        add(Kind.REFUSED, 20, 21, "first", 1);
        takenOver(30, "third", 3, 2, "first");
        lost(40, "third", 3);
        claimed(50, 51, "fourth", 4);
        succeeded(60, "fourth", 4);
        assertThat(found()).isEmpty();
    }

    @Test
    void an_interrupted_thread_writes_on(@TempDir Path directory) {
        Path file = directory.resolve("history");
        try (HistoryFile log = new HistoryFile(file)) {
            Thread.currentThread().interrupt();
            log.started("worker", 1, 2, Map.of());
            assertThat(Thread.interrupted()).isTrue();
            log.ended("worker", 1, 2, false);
        }
        assertThat(JobHistory.read(List.of(file)).events())
                .extracting(HistoryEvent::kind)
                .containsExactly(Kind.STARTED, Kind.ENDED);
    }
}
