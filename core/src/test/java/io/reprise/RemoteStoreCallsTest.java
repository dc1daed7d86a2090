// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.Progress;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLease.LeaseRequest;
import io.reprise.remote.RemoteReport;
import io.reprise.remote.StaleLeaseException;
import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What remote runs cost, in calls of the store: it is these that bound how many there can be. */
class RemoteStoreCallsTest {

    private static final JobType<String> REMOTE = JobType.of("remote", String.class);
    private static final int JOBS = 100;

    private final Map<String, Integer> calls = new ConcurrentHashMap<>();
    private final EngineFixture engine =
            new EngineFixture((payload, job) -> {}, RepriseBuilder::remoteWorkers, this::counting);
    private final RemoteWorkers workers = engine.reprise.remoteWorkers();

    @AfterEach
    void stop() {
        engine.close();
    }

    private JobStore counting(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    calls.merge(method.getName(), 1, Integer::sum);
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private List<RemoteLease> lease() {
        for (int i = 0; i < JOBS; i++) {
            engine.reprise.enqueue(REMOTE.job("x"));
        }
        // The first lease waits until the breakers of the fleet are known.
        workers.lease(new LeaseRequest("w", List.of("empty"), Set.of("remote"), 1, Duration.ofSeconds(30)));
        calls.clear();
        return workers.lease(new LeaseRequest("w", List.of("default"), Set.of("remote"), JOBS, Duration.ofSeconds(30)));
    }

    @Test
    void a_lease_of_many_is_one_claim_and_a_report_of_many_one_settlement() {
        List<RemoteLease> leases = lease();
        assertThat(leases).hasSize(JOBS);
        assertThat(calls).containsExactlyEntriesOf(Map.of("claim", 1));
        calls.clear();
        List<RemoteReport> reports = leases.stream()
                .map(lease -> RemoteReport.completed(lease.key(), null))
                .toList();
        assertThat(workers.report(reports)).allMatch(RemoteReport.Answer::isAccepted);
        assertThat(calls).containsExactlyEntriesOf(Map.of("settle", 1));
    }

    @Test
    void a_single_report_of_a_job_that_was_leased_here_is_one_settlement() {
        List<RemoteLease> leases = lease();
        calls.clear();
        workers.complete(leases.get(0).key(), null);
        assertThat(calls).containsExactlyEntriesOf(Map.of("settle", 1));
    }

    @Test
    void the_job_after_a_success_is_known_without_reading_it() {
        List<RemoteLease> leases = lease();
        RemoteLease.Key first = leases.get(0).key();
        calls.clear();
        Job job = report(RemoteReport.completed(first, "[1]"));
        assertThat(calls).containsExactlyEntriesOf(Map.of("settle", 1));
        assertThat(job).isEqualTo(engine.job(first.job()));
        assertThat(report(RemoteReport.completed(first, "[1]"))).isNull();
        RemoteLease.Key second = leases.get(1).key();
        workers.heartbeat(second, Duration.ofSeconds(30), new Progress(40, "half"));
        assertThat(report(RemoteReport.completed(second, null))).isEqualTo(engine.job(second.job()));
        assertThat(report(RemoteReport.snoozed(leases.get(2).key(), Duration.ZERO)))
                .isNull();
    }

    private @Nullable Job report(RemoteReport report) {
        RemoteReport.Answer answer = workers.report(List.of(report)).get(0);
        assertThat(answer.isAccepted()).isTrue();
        return answer.job();
    }

    @Test
    void a_report_of_a_job_that_was_leased_elsewhere_reads_it_first() {
        List<RemoteLease> leases = lease();
        try (Reprise other = Reprise.builder()
                .store(counting(engine.memory))
                .codec(new TextCodec())
                .remoteWorkers()
                .start()) {
            List<RemoteReport> reports = leases.stream()
                    .map(lease -> RemoteReport.completed(lease.key(), null))
                    .toList();
            assertThat(other.remoteWorkers().report(reports)).allMatch(RemoteReport.Answer::isAccepted);
        }
        assertThat(calls).containsEntry("settle", 1).containsEntry("findAll", 1);
    }

    @Test
    void a_lease_that_is_gone_is_refused_though_the_job_was_leased_here() {
        RemoteLease.Key key = lease().get(0).key();
        engine.worker.advance(Duration.ofMinutes(5));
        assertThatThrownBy(() -> workers.complete(key, null))
                .isInstanceOf(StaleLeaseException.class)
                .hasMessageContaining("PENDING");
        assertThat(engine.job(key.job()).attempts()).isZero();
    }

    @Test
    void a_report_that_was_accepted_elsewhere_is_accepted_here_too() {
        RemoteLease.Key key = lease().get(0).key();
        try (Reprise other = Reprise.builder()
                .store(engine.memory)
                .codec(new TextCodec())
                .remoteWorkers()
                .start()) {
            other.remoteWorkers().complete(key, null);
        }
        workers.complete(key, null);
        assertThat(engine.job(key.job()).attempts()).isEqualTo(1);
        assertThat(engine.job(key.job()).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void long_payloads_are_not_kept_without_end() {
        String text = "x".repeat(JobSpec.MAX_PAYLOAD_BYTES / 2);
        int jobs = 60;
        for (int i = 0; i < jobs; i++) {
            engine.reprise.enqueue(REMOTE.job(text));
        }
        List<RemoteLease> leases = workers.lease(
                new LeaseRequest("w", List.of("default"), Set.of("remote"), jobs, Duration.ofSeconds(30)));
        calls.clear();
        leases.forEach(lease -> workers.complete(lease.key(), null));
        assertThat(calls.get("findAll")).as("those that were forgotten").isBetween(1, jobs - 1);
        assertThat(calls).containsEntry("settle", jobs);
    }
}
