// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.control.BreakerPhase;
import io.reprise.failure.Failure;
import io.reprise.insight.CostEntry;
import io.reprise.insight.JobEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.Progress;
import io.reprise.job.RefusedException;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLease.LeaseRequest;
import io.reprise.remote.RemoteReport;
import io.reprise.remote.StaleLeaseException;
import io.reprise.retry.FailReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Jobs that run outside the process, decided about inside. */
class RemoteWorkersTest {

    private static final JobType<String> REMOTE = JobType.of("remote", String.class);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Failure DOWN = Failure.reported("HttpError", null, 503, "down", null);

    private final EngineFixture engine = new EngineFixture((payload, job) -> {}, RepriseBuilder::remoteWorkers);
    private final RemoteWorkers workers = engine.reprise.remoteWorkers();

    @AfterEach
    void stop() {
        engine.close();
    }

    private List<RemoteLease> lease(int max) {
        return workers.lease(new LeaseRequest("py-1", List.of(), Set.of("remote"), max, LEASE));
    }

    private RemoteLease.Key leaseOne() {
        List<RemoteLease> leases = lease(1);
        assertThat(leases).hasSize(1);
        return leases.get(0).key();
    }

    @Test
    void an_engine_for_remote_workers_leaves_types_without_a_handler_alone() {
        JobId own = engine.reprise.enqueue(WORK.job("mine"));
        JobId remote = engine.reprise.enqueue(REMOTE.job("theirs"));
        engine.worker.advance(Duration.ofMinutes(1));
        assertThat(engine.job(own).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(engine.job(remote).state()).isEqualTo(JobState.PENDING);
        assertThat(engine.job(remote).counts()).isEqualTo(JobCounts.NONE);
    }

    @Test
    void an_engine_without_any_handler_still_fires_schedules_and_finds_lost_leases() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x"));
        RemoteLease.Key lost = leaseOne();
        workers.heartbeat(lost, LEASE, null);
        engine.worker.advance(LEASE.plusSeconds(20));
        assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
        assertThat(engine.job(id).counts().losses()).isEqualTo(1);
        assertThatThrownBy(() -> workers.complete(lost, null)).isInstanceOf(StaleLeaseException.class);
        assertThatThrownBy(() -> workers.heartbeat(lost, LEASE, null)).isInstanceOf(StaleLeaseException.class);
        assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
    }

    @Test
    void a_worker_that_was_never_heard_of_under_its_lease_is_no_loss() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x"));
        for (int i = 0; i < 10; i++) {
            leaseOne();
            engine.worker.advance(LEASE.plusSeconds(20));
        }
        assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
        assertThat(engine.job(id).counts().losses()).isZero();
        assertThat(engine.job(id).counts().interruptions()).isEqualTo(10);
        workers.complete(leaseOne(), null);
        assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    /** Else a job that kills its worker before the first heartbeat would go through the fleet for ever. */
    @Test
    void a_job_of_which_no_worker_ever_says_a_word_is_quarantined_in_the_end() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x"));
        for (int i = 0; i < 15; i++) {
            leaseOne();
            engine.worker.advance(LEASE.plusMinutes(10));
        }
        assertThat(engine.job(id).status().failReason()).isEqualTo(FailReason.QUARANTINED);
        assertThat(engine.job(id).counts().losses()).isEqualTo(5);
    }

    @Test
    void a_failure_is_retried_as_the_policy_says_and_told_once() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x").retry(EXACT));
        workers.fail(leaseOne(), DOWN);
        Job job = engine.job(id);
        assertThat(job.attempts()).isEqualTo(1);
        assertThat(job.nextRetryAt()).isEqualTo(engine.start.plusSeconds(1));
        assertThat(engine.kinds())
                .containsExactly(JobEvent.Kind.ENQUEUED, JobEvent.Kind.STARTED, JobEvent.Kind.RETRY_SCHEDULED);
        assertThat(engine.events.get(2).dueAt()).isEqualTo(job.nextRetryAt());
        engine.worker.advance(Duration.ofSeconds(1));
        workers.complete(leaseOne(), "{\"n\":1}");
        assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(engine.job(id).status().result()).isEqualTo("{\"n\":1}");
    }

    @Test
    void many_runs_are_reported_at_once_and_each_is_answered() {
        for (int i = 0; i < 6; i++) {
            engine.reprise.enqueue(REMOTE.job("job " + i).retry(EXACT));
        }
        List<RemoteLease> leases = lease(6);
        List<RemoteLease.Key> keys = leases.stream().map(RemoteLease::key).toList();
        List<RemoteReport> reports = List.of(
                RemoteReport.completed(keys.get(0), "1"),
                RemoteReport.failed(keys.get(1), DOWN),
                RemoteReport.snoozed(keys.get(2), Duration.ofHours(1)),
                RemoteReport.cancelled(keys.get(3), "not needed"),
                RemoteReport.released(keys.get(4)),
                RemoteReport.completed(keys.get(5), null),
                RemoteReport.failed(keys.get(0), DOWN));
        JobId refused = keys.get(5).job();
        List<RemoteReport.Answer> answers = workers.report(reports, job -> {
            if (job.id().equals(refused)) {
                throw new IllegalArgumentException("not yours");
            }
        });
        assertThat(answers)
                .extracting(RemoteReport.Answer::isAccepted)
                .containsExactly(true, true, true, true, true, false, false);
        assertThat(answers.get(5).refusal()).hasMessage("not yours");
        assertThat(answers.get(6).refusal()).isInstanceOf(StaleLeaseException.class);
        assertThat(keys)
                .extracting(key -> engine.job(key.job()).state())
                .containsExactly(
                        JobState.SUCCEEDED,
                        JobState.PENDING,
                        JobState.PENDING,
                        JobState.CANCELLED,
                        JobState.PENDING,
                        JobState.RUNNING);
        assertThat(keys).extracting(key -> engine.job(key.job()).attempts()).containsExactly(1, 1, 0, 1, 0, 0);
        assertThat(workers.report(reports.subList(0, 5)))
                .as("again: only a release is not remembered")
                .extracting(RemoteReport.Answer::isAccepted)
                .containsExactly(true, true, true, true, false);
        assertThat(engine.job(keys.get(1).job()).attempts()).isEqualTo(1);
    }

    @Test
    void no_reports_are_answered_with_nothing() {
        assertThat(workers.report(List.of())).isEmpty();
    }

    @Test
    void heartbeats_keep_a_lease_and_carry_progress() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x"));
        RemoteLease.Key key = leaseOne();
        for (int i = 1; i <= 10; i++) {
            engine.worker.advance(Duration.ofSeconds(20));
            assertThat(workers.heartbeat(key, LEASE, new Progress(10 * i, null)))
                    .isFalse();
        }
        assertThat(engine.job(id).status().progress()).isEqualTo(new Progress(100, null));
        engine.reprise.as("ada", null).cancel(id);
        assertThat(workers.heartbeat(key, LEASE, null)).isTrue();
        workers.cancel(key, "as asked");
        assertThat(engine.job(id).state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void remote_failures_open_the_breaker_that_holds_back_everyones_jobs() {
        for (int i = 0; i < 20; i++) {
            engine.reprise.enqueue(REMOTE.job("x").resource("api").retry(EXACT));
        }
        for (int i = 0; i < 12; i++) {
            lease(1).forEach(lease -> workers.fail(lease.key(), DOWN));
            engine.worker.advance(Duration.ofMillis(200));
        }
        assertThat(engine.reprise.resources())
                .filteredOn(resource -> resource.name().equals("api"))
                .extracting(ResourceStatus::phase)
                .containsExactly(BreakerPhase.OPEN);
        assertThat(lease(50)).isEmpty();
        assertThat(engine.kinds()).contains(JobEvent.Kind.PARKED);
    }

    @Test
    void a_deadline_that_passed_keeps_a_job_from_being_leased() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x").retry(EXACT.deadline(Duration.ofMinutes(1))));
        engine.clock.advance(Duration.ofMinutes(2));
        assertThat(lease(1)).isEmpty();
        engine.worker.advance(Duration.ofMinutes(1));
        assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED);
    }

    @Test
    void many_report_twice_at_once_and_each_run_counts_once() throws Exception {
        int jobs = 200;
        for (int i = 0; i < jobs; i++) {
            engine.reprise.enqueue(REMOTE.job("x"));
        }
        List<RemoteLease> leases = lease(jobs);
        assertThat(leases).hasSize(jobs);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<Boolean>> reports = new ArrayList<>();
            for (RemoteLease lease : leases) {
                for (int twice = 0; twice < 2; twice++) {
                    reports.add(threads.submit(() -> completes(lease.key())));
                }
            }
            int accepted = 0;
            for (Future<Boolean> report : reports) {
                accepted += report.get() ? 1 : 0;
            }
            assertThat(accepted).as("the same outcome may be told twice").isGreaterThanOrEqualTo(jobs);
        } finally {
            threads.shutdownNow();
        }
        assertThat(engine.reprise.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(jobs);
    }

    private boolean completes(RemoteLease.Key key) {
        try {
            workers.complete(key, null);
            return true;
        } catch (StaleLeaseException e) {
            return false;
        }
    }

    @Test
    void a_key_survives_its_text() {
        for (RemoteLease.Key key :
                List.of(new RemoteLease.Key(17, new JobId(42), false), new RemoteLease.Key(1, new JobId(1), true))) {
            assertThat(RemoteLease.Key.parse(key.text())).isEqualTo(key);
        }
        for (String text : List.of("", "1", "1-", "-1-1", "1-1-x", "99999999999999999999-1")) {
            assertThatThrownBy(() -> RemoteLease.Key.parse(text)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void a_schedule_is_triggered_by_hand_and_tells_its_next_runs() {
        engine.reprise.schedule(Schedule.every("hourly", Duration.ofHours(1), REMOTE.job("x")));
        JobId id = engine.reprise.as("ada", "now").trigger("hourly");
        assertThat(engine.job(id).spec().schedule()).isEqualTo("hourly");
        assertThat(engine.reprise.nextRuns("hourly", 3))
                .containsExactly(
                        engine.start.plusSeconds(3_600),
                        engine.start.plusSeconds(7_200),
                        engine.start.plusSeconds(10_800));
        assertThat(engine.reprise.audit(1).get(0).action()).isEqualTo("trigger-schedule");
        assertThatThrownBy(() -> engine.reprise.as("ada", null).trigger("none")).isInstanceOf(RefusedException.class);
    }

    @Test
    void a_heartbeat_after_the_timeout_says_that_the_run_has_failed() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x").timeout(Duration.ofSeconds(1)));
        RemoteLease.Key key = leaseOne();
        engine.worker.advance(Duration.ofSeconds(2));
        assertThatThrownBy(() -> workers.heartbeat(key, LEASE, null))
                .isInstanceOf(StaleLeaseException.class)
                .hasMessageContaining("has failed with TIMEOUT")
                .hasMessageNotContaining("nothing was changed");
        assertThat(engine.job(id).attempts()).isEqualTo(1);
    }

    @Test
    void a_busy_queue_does_not_keep_a_worker_without_queues_from_the_others() {
        engine.reprise.enqueueAll(Collections.nCopies(200, REMOTE.job("busy").queue("a")));
        engine.reprise.enqueueAll(Collections.nCopies(5, REMOTE.job("quiet").queue("z")));
        List<String> queues = new ArrayList<>();
        for (int n = 0; n < 100; n++) {
            queues.add(lease(1).get(0).job().queue());
        }
        assertThat(queues).filteredOn("z"::equals).hasSize(5);
    }

    @Test
    void a_remote_run_reports_cost_parents_of_its_error_and_first_failure() {
        JobId id = engine.reprise.enqueue(REMOTE.job("x").retry(EXACT.retryOn("ConnectionError")));
        Failure refused = Failure.reported(
                List.of("ConnectionRefusedError", "ConnectionError", "OSError"), null, null, "no", null);
        workers.report(List.of(RemoteReport.failed(leaseOne(), refused).costing(Map.of("usd", 0.25, "tokens", 800.0))));
        assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
        engine.worker.advance(Duration.ofSeconds(5));
        workers.report(List.of(RemoteReport.completed(leaseOne(), null).costing(Map.of("usd", 0.5))));
        JobEvent success = engine.events.get(engine.events.size() - 1);
        assertThat(success.kind()).isEqualTo(JobEvent.Kind.SUCCEEDED);
        assertThat(success.firstFailedAt()).isEqualTo(engine.start);
        engine.worker.advance(Duration.ofMinutes(1));
        assertThat(engine.reprise.costs(Duration.ofDays(1)).entries())
                .filteredOn(entry -> entry.unit().equals("usd"))
                .extracting(CostEntry::amount)
                .containsExactlyInAnyOrder(0.25, 0.5);
    }

    @Test
    void a_cost_that_is_not_allowed_is_refused_where_it_is_made() {
        engine.reprise.enqueue(REMOTE.job("x"));
        RemoteReport report = RemoteReport.completed(leaseOne(), null);
        assertThatThrownBy(() -> report.costing(Map.of("seconds", 1.0))).hasMessageContaining("another unit");
        assertThatThrownBy(() -> report.costing(Map.of("usd", -1.0))).hasMessageContaining("must be 0 to");
    }
}
