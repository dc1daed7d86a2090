// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.remote.RemoteJoin;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.StaleLeaseException;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.StoredStep;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A remote run joins other jobs and adds jobs to its batch, in virtual time. */
class RemoteJoinTest {

    private static final JobType<String> PART = JobType.of("part", String.class).retry(EXACT);
    private static final JobType<String> ORDER =
            JobType.of("order", String.class).retry(RetryPolicy.exponential().noDeadline());

    private boolean broken;
    private final ManualClock clock = new ManualClock();
    private final InlineWorker worker = InlineWorker.start(
            Reprise.builder()
                    .store(new InMemoryJobStore(clock))
                    .codec(new TextCodec())
                    .remoteWorkers()
                    .handle(PART, (name, job) -> {
                        if (broken && name.equals("b")) {
                            throw JobSignal.fail("b is broken");
                        }
                        job.result("label of " + name);
                    }),
            clock);
    private final Reprise reprise = worker.reprise();
    private final RemoteWorkers remote = reprise.remoteWorkers();

    @AfterEach
    void close() {
        worker.close();
    }

    private RemoteLease.Key lease() {
        return remote.lease(new RemoteLease.LeaseRequest(
                        "remote", List.of("far"), Set.of(ORDER.name()), 1, Duration.ofMinutes(1)))
                .get(0)
                .key();
    }

    @Test
    void the_run_ends_until_all_jobs_have_ended_and_the_next_run_gets_their_results() {
        JobId id = reprise.enqueue(ORDER.job("order").queue("far"));
        RemoteLease.Key key = lease();
        assertThat(remote.join(key, "labels", PART.jobs(List.of("a", "b"))).suspended())
                .isTrue();
        assertThat(reprise.find(id).orElseThrow().status().waitReason()).isEqualTo(WaitReason.BATCH);
        assertThatExceptionOfType(StaleLeaseException.class)
                .isThrownBy(() -> remote.join(key, "labels", PART.jobs(List.of("a", "b"))));
        worker.runDue();
        RemoteLease.Key next = lease();
        RemoteJoin joined = remote.join(next, "labels", PART.jobs(List.of("a", "b")));
        assertThat(joined).isEqualTo(new RemoteJoin(false, List.of("label of a", "label of b"), null));
        assertThat(reprise.steps(id).get(0).state()).isEqualTo(StoredStep.State.DONE);
        assertThat(remote.join(next, "none", List.of())).isEqualTo(new RemoteJoin(false, List.of(), null));
        remote.complete(next, null);
        assertThat(reprise.find(JobQuery.all().type(PART.name())).items()).hasSize(2);
    }

    @Test
    void a_dead_job_is_named_and_the_join_goes_on_after_its_retry() {
        broken = true;
        JobId id = reprise.enqueue(ORDER.job("order").queue("far"));
        remote.join(lease(), "labels", PART.jobs(List.of("a", "b")));
        worker.runDue();
        RemoteLease.Key key = lease();
        RemoteJoin failed = remote.join(key, "labels", List.of());
        assertThat(failed.results()).isEmpty();
        assertThat(failed.failure()).contains("number 1 of join labels", "b is broken");
        remote.snooze(key, Duration.ofMinutes(1));
        broken = false;
        JobId child = reprise.find(JobQuery.all().state(JobState.FAILED))
                .items()
                .get(0)
                .id();
        reprise.as("ada", null).retry(child, ManualRetry.NOW.forced());
        worker.advance(Duration.ofMinutes(2));
        assertThat(remote.join(lease(), "labels", List.of()).results()).containsExactly("label of a", "label of b");
        assertThat(reprise.find(id).orElseThrow().state()).isEqualTo(JobState.RUNNING);
    }

    @Test
    void a_run_that_comes_too_early_ends_again_and_another_kind_of_step_is_refused() {
        JobId id = reprise.enqueue(ORDER.job("order").queue("far"));
        remote.join(lease(), "labels", List.of(PART.job("a").after(Duration.ofHours(1))));
        reprise.as("ada", null).retry(id, ManualRetry.NOW.forced());
        assertThat(remote.join(lease(), "labels", List.of()).suspended()).isTrue();
        reprise.as("ada", null).retry(id, ManualRetry.NOW.forced());
        RemoteLease.Key key = lease();
        remote.checkpoint(key, "charge", null);
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> remote.join(key, "charge", List.of()))
                .withMessageContaining("is stored as STEP, not as JOIN");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> remote.join(key, "keys", List.of(PART.job("a").key("k"))))
                .withMessageContaining("has a key");
    }

    @Test
    void a_member_adds_others_while_it_runs_though_the_batch_is_closed() {
        Batch batch = reprise.batch("import").add(ORDER.job("first").queue("far"));
        batch.close();
        RemoteLease.Key key = lease();
        JobId added = remote.addToBatch(key, List.of(PART.job("more").idempotencyKey("more")))
                .get(0);
        assertThat(remote.addToBatch(key, List.of(PART.job("more").idempotencyKey("more"))))
                .containsExactly(added);
        assertThat(remote.addToBatch(key, List.of())).isEmpty();
        assertThat(batch.state().total()).isEqualTo(2);
        remote.complete(key, null);
        assertThat(batch.state().endedAt()).isNull();
        assertThatExceptionOfType(StaleLeaseException.class)
                .isThrownBy(() -> remote.addToBatch(key, List.of(PART.job("late"))));
        worker.runDue();
        assertThat(batch.state().succeeded()).isEqualTo(2);
        assertThat(batch.state().succeededAt()).isNotNull();
    }

    @Test
    void a_job_that_is_in_no_batch_adds_nothing() {
        reprise.enqueue(ORDER.job("alone").queue("far"));
        RemoteLease.Key key = lease();
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> remote.addToBatch(key, List.of(PART.job("a"))))
                .withMessageContaining("is in no batch");
        remote.join(key, "children", List.of(ORDER.job("child").queue("far")));
        RemoteLease.Key child = lease();
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> remote.addToBatch(child, List.of(PART.job("a"))))
                .withMessageContaining("is the child of a join");
        assertThat(reprise.find(JobQuery.all().type(PART.name())).items()).isEmpty();
    }
}
