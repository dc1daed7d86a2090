// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WorkerReport;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkersWantedTest {

    private static final long SECOND = 1_000_000_000L;

    private final WorkersWanted wanted = new WorkersWanted();

    private static QueueState queue(long pending, long running, long succeeded, boolean due, @Nullable Integer limit) {
        return new QueueState(
                "q",
                null,
                limit,
                Map.of(JobState.PENDING, pending, JobState.RUNNING, running, JobState.SUCCEEDED, succeeded),
                Set.of(),
                due ? Instant.EPOCH : null);
    }

    @Test
    void an_empty_queue_wants_nobody_and_a_cold_one_with_work_wants_one() {
        assertThat(wanted.of(queue(0, 0, 0, false, null), List.of(), 0, 0)).isZero();
        assertThat(wanted.of(queue(5, 0, 0, true, null), List.of(), 1, SECOND)).isEqualTo(2);
        assertThat(wanted.of(queue(5_000, 0, 0, false, null), List.of(), 0, 2 * SECOND))
                .as("jobs of tomorrow")
                .isZero();
    }

    @Test
    void in_step_it_wants_arrivals_times_the_time_of_a_run() {
        wanted.of(queue(0, 8, 0, false, null), List.of(), 0, 0);
        // 100 ended in 10 s with 8 running: a run takes 0.8 s. 50 arrived: 5 a second.
        assertThat(wanted.of(queue(0, 8, 50, false, null), List.of(), 0, 10 * SECOND))
                .isEqualTo(8);
        assertThat(wanted.of(queue(0, 4, 150, false, null), List.of(), 0, 20 * SECOND))
                .as("96 arrivals, 100 ends, 0.4 s each")
                .isEqualTo(4);
    }

    @Test
    void more_arrivals_than_ends_want_more_as_soon_as_jobs_are_late() {
        wanted.of(queue(0, 10, 0, false, null), List.of(), 0, 0);
        // 100 ended in 10 s, 300 arrived: 30 a second with runs of 1 s. Those of the last 6 s wait.
        assertThat(wanted.of(queue(200, 10, 100, true, null), List.of(), 6.6, 10 * SECOND))
                .as("30 keep pace, and the queue is 6.6 s late")
                .isEqualTo(33);
    }

    @Test
    void jobs_of_tomorrow_want_nobody_today() {
        wanted.of(queue(0, 4, 0, false, null), List.of(), 0, 0);
        assertThat(wanted.of(queue(10_000, 4, 40, false, null), List.of(), 0, 10 * SECOND))
                .isEqualTo(4);
        assertThat(wanted.of(queue(20_000, 4, 80, true, null), List.of(), 0.1, 20 * SECOND))
                .as("one more is due a moment ago")
                .isEqualTo(5);
    }

    @Test
    void a_backlog_with_nothing_arriving_wants_more_the_later_it_is() {
        wanted.of(queue(1_000, 10, 0, true, null), List.of(), 0, 0);
        assertThat(wanted.of(queue(900, 10, 100, true, null), List.of(), 60, 10 * SECOND))
                .isEqualTo(20);
        assertThat(wanted.of(queue(800, 10, 200, true, null), List.of(), 120, 20 * SECOND))
                .isEqualTo(30);
        assertThat(wanted.of(queue(0, 0, 1_010, false, null), List.of(), 0, 30 * SECOND))
                .isZero();
    }

    @Test
    void a_paused_queue_wants_nobody_and_a_limit_bounds_it() {
        QueueState.Pause pause = new QueueState.Pause(Instant.EPOCH, new AuditNote("ada", null));
        QueueState paused = new QueueState("q", pause, null, Map.of(JobState.PENDING, 9L), Set.of(), Instant.EPOCH);
        assertThat(wanted.of(paused, List.of(), 600, 0)).isZero();
        assertThat(wanted.of(queue(1_000, 10, 0, true, 12), List.of(), 600, SECOND))
                .isEqualTo(12);
    }

    @Test
    void jobs_that_workers_claimed_ahead_do_not_run() {
        // Two workers of ten threads; in the store 260 jobs of each run.
        List<WorkerReport> workers = List.of(
                new WorkerReport("w1", List.of("q"), List.of("t"), 10, 260),
                new WorkerReport("w2", List.of(), List.of("t"), 10, 260),
                new WorkerReport("elsewhere", List.of("other"), List.of("t"), 10, 900));
        wanted.of(queue(100_000, 520, 0, true, null), workers, 0, 0);
        assertThat(wanted.of(queue(90_000, 520, 10_000, true, null), workers, 60, 10 * SECOND))
                .as("20 run, and the queue is a minute late")
                .isEqualTo(40);
        assertThat(wanted.of(queue(80_000, 523, 20_000, true, null), workers, 60, 20 * SECOND))
                .as("three more run on workers in other languages")
                .isEqualTo(46);
        assertThat(new WorkersWanted().of(queue(0, 4, 0, false, null), workers, 0, 0))
                .as("the reports are older than the counts")
                .isEqualTo(4);
    }

    @Test
    void pruned_jobs_do_not_mislead_it() {
        wanted.of(queue(0, 10, 5_000, false, null), List.of(), 0, 0);
        assertThat(wanted.of(queue(0, 10, 100, false, null), List.of(), 0, 10 * SECOND))
                .isEqualTo(10);
        // 6 arrive in a second, with runs of 2 s on 5 threads: in 10 s 25 end, and almost as many are deleted.
        wanted.of(queue(100, 5, 100, true, null), List.of(), 10, 20 * SECOND);
        assertThat(wanted.of(queue(135, 5, 101, true, null), List.of(), 15.8, 30 * SECOND))
                .as("12 keep pace, and the queue is 15.8 s late")
                .isEqualTo(16);
    }
}
