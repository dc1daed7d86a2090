// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.history.HistoryEvent.Kind;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobHistoryTest {

    private static final ClaimRequest REQUEST = new ClaimRequest(
            "w1", Duration.ofMinutes(1), 10, List.of(new ClaimRequest.Demand("default", 10)), 0.2, true);

    @TempDir
    Path directory;

    private final JobStore store = new InMemoryJobStore();

    private static Settlement success(JobId job, long token) {
        return new Settlement(job, token, CountedAs.ATTEMPT, Duration.ZERO, new Settlement.Succeed(null), null, null);
    }

    private void rows(HistoryLog log) {
        for (Job job : store.find(JobQuery.all()).items()) {
            RecordingStore.row(log, job, store.attempts(job.id()));
        }
    }

    private static List<Violation> check(JobHistory history) {
        return HistoryChecker.check(history, Duration.ZERO, true);
    }

    @Test
    void an_event_is_the_same_after_a_line_of_text() {
        HistoryEvent event = new HistoryEvent(
                Kind.ENQUEUED, 1, 2, "w 1\t\n=%", 3, 4, Map.of("key", "a=b\tc\nd%é", "due", "2026-01-01T00:00:00Z"));
        assertThat(HistoryEvent.parse(event.toLine())).isEqualTo(event);
        assertThat(event.toLine().lines()).hasSize(1);
    }

    @Test
    void what_is_no_event_is_refused() {
        assertThatThrownBy(() -> HistoryEvent.parse("ENQUEUED\t1")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> HistoryEvent.parse("NOTHING\t1\t2\tw\t3\t4"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_good_run_is_written_read_and_found_good_even_if_the_last_line_is_cut_off() throws IOException {
        Path file = directory.resolve("w1.history");
        try (HistoryFile log = new HistoryFile(file)) {
            JobStore watched = RecordingStore.around(store, "w1", log);
            watched.insert(List.of(JobSpec.builder("work", "1").build()));
            Claim claim = watched.claim(REQUEST).get(0);
            JobId job = claim.jobs().get(0).id();
            log.started("w1", job.value(), claim.token(), Map.of());
            log.ended("w1", job.value(), claim.token(), false);
            watched.settle(List.of(success(job, claim.token())), List.of(claim.token()));
            rows(log);
        }
        Files.writeString(file, "CLAIMED\t12", StandardOpenOption.APPEND);
        JobHistory history = JobHistory.read(List.of(file));
        assertThat(history.events())
                .extracting(HistoryEvent::kind)
                .containsExactly(
                        Kind.ENQUEUED,
                        Kind.CLAIMED,
                        Kind.STARTED,
                        Kind.ENDED,
                        Kind.OFFERED,
                        Kind.ACCEPTED,
                        Kind.CLOSED,
                        Kind.ROW);
        assertThat(check(history)).isEmpty();
    }

    @Test
    void a_job_that_is_gone_and_one_that_never_ends_are_told() {
        JobHistory history = new JobHistory();
        JobStore watched = RecordingStore.around(store, "client", history);
        watched.insert(List.of(JobSpec.builder("work", "1").build()));
        assertThat(check(history)).extracting(Violation::rule).containsExactly("lost");
        rows(history);
        assertThat(check(history)).extracting(Violation::rule).containsExactly("stuck");
    }

    @Test
    void a_settle_that_failed_may_have_happened_or_not() {
        JobHistory history = new JobHistory();
        boolean[] fails = {true};
        JobStore unreliable = StoreCalls.before(store, call -> {
            Object answer = call.proceed();
            if (fails[0] && call.method().equals("settle")) {
                throw new StoreException("answer lost", new IllegalStateException());
            }
            return answer;
        });
        JobStore watched = RecordingStore.around(unreliable, "w1", history);
        watched.insert(List.of(JobSpec.builder("work", "1").build()));
        Claim claim = watched.claim(REQUEST).get(0);
        List<Settlement> outcome = List.of(success(claim.jobs().get(0).id(), claim.token()));
        assertThatThrownBy(() -> watched.settle(outcome, List.of())).isInstanceOf(StoreException.class);
        fails[0] = false;
        assertThat(watched.settle(outcome, List.of(claim.token())).stale()).hasSize(1);
        rows(history);
        assertThat(check(history)).isEmpty();
    }

    @Test
    void two_accepted_outcomes_of_one_token_are_told() {
        JobHistory history = new JobHistory();
        JobStore forgiving = StoreCalls.before(store, call -> {
            Object answer = call.proceed();
            return call.method().equals("settle")
                    ? new io.reprise.store.Settled(store.now(), java.util.Set.of(), java.util.Set.of())
                    : answer;
        });
        JobStore watched = RecordingStore.around(forgiving, "w1", history);
        watched.insert(List.of(JobSpec.builder("work", "1").build()));
        Claim claim = watched.claim(REQUEST).get(0);
        List<Settlement> outcome = List.of(success(claim.jobs().get(0).id(), claim.token()));
        watched.settle(outcome, List.of());
        watched.settle(outcome, List.of());
        assertThat(check(history)).extracting(Violation::rule).contains("two outcomes", "two ends");
    }
}
