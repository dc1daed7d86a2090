// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Storing jobs. Keys have contracts of their own. */
public interface InsertContract extends StoreFixture {

    @Test
    default void a_new_job_waits_and_is_due_at_once() {
        Instant before = store().now();
        Enqueued inserted = insert(TestJobs.spec("mail"));
        Job job = read(inserted.id());
        assertThat(inserted.created()).isTrue();
        assertThat(job.state()).isEqualTo(JobState.PENDING);
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.NEW);
        assertThat(job.status().holder()).isNull();
        assertThat(job.counts()).isEqualTo(JobCounts.NONE);
        assertThat(job.times().createdAt()).isBetween(before, store().now());
        assertThat(job.times().dueAt())
                .isEqualTo(inserted.dueAt())
                .isEqualTo(job.times().createdAt());
        assertThat(job.times().firstDueAt()).isEqualTo(inserted.dueAt());
        assertThat(job.times().startedAt()).isNull();
        assertThat(job.times().finishedAt()).isNull();
        assertThat(store().attempts(job.id())).isEmpty();
    }

    @Test
    default void answers_come_in_the_order_of_the_specs() {
        List<JobId> ids = add(List.of(
                TestJobs.spec("a").build(),
                TestJobs.spec("b").build(),
                TestJobs.spec("c").build()));
        assertThat(ids).doesNotHaveDuplicates();
        assertThat(ids).extracting(id -> read(id).type()).containsExactly("a", "b", "c");
    }

    @Test
    default void jobs_of_one_call_run_in_its_order_whatever_their_keys() {
        for (int jobs : new int[] {3, 12, 70}) {
            List<JobSpec> specs = new ArrayList<>();
            for (int i = 0; i < jobs; i++) {
                specs.add(TestJobs.spec("work")
                        .idempotencyKey(jobs + " " + (jobs - i))
                        .build());
            }
            assertThat(add(specs))
                    .extracting(JobId::value)
                    .as("jobs that are due at the same time are claimed by their ids")
                    .isSorted();
        }
    }

    @Test
    default void many_jobs_at_once_keep_their_order_and_what_is_their_own() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            specs.add(TestJobs.spec("work").payload("{\"n\":" + i + "}").build());
        }
        specs.set(110, TestJobs.spec("other").payload("{\"n\":110}").priority(3).build());
        specs.set(
                120,
                TestJobs.spec("work")
                        .payload("{\"n\":120}")
                        .delay(Duration.ofDays(1))
                        .build());
        List<Enqueued> inserted = store().insert(specs);
        assertThat(inserted).extracting(Enqueued::id).doesNotHaveDuplicates();
        for (int i = 0; i < specs.size(); i++) {
            Job job = read(inserted.get(i).id());
            assertThat(job.spec()).isEqualTo(specs.get(i));
            assertThat(job.times().dueAt()).isEqualTo(inserted.get(i).dueAt());
        }
        assertThat(read(inserted.get(120).id()).status().waitReason()).isEqualTo(WaitReason.DELAYED);
        assertThat(read(inserted.get(249).id()).status().waitReason()).isEqualTo(WaitReason.NEW);
    }

    @Test
    default void nothing_inserted_is_nothing_stored() {
        assertThat(store().insert(List.of())).isEmpty();
        assertThat(store().queues()).isEmpty();
    }

    @Test
    default void later_jobs_have_greater_ids() {
        assertThat(add(TestJobs.spec("first"))).isLessThan(add(TestJobs.spec("second")));
    }

    @Test
    default void a_delay_counts_from_the_stores_clock() {
        Job job = read(add(TestJobs.spec("later").delay(Duration.ofHours(1))));
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.DELAYED);
        assertThat(job.times().dueAt()).isEqualTo(job.times().createdAt().plus(Duration.ofHours(1)));
        assertThat(job.times().firstDueAt()).isEqualTo(job.times().dueAt());
    }

    @Test
    default void a_due_time_in_the_future_is_kept() {
        Instant due = store().now().plus(Duration.ofDays(400));
        Enqueued inserted = insert(TestJobs.spec("later").dueAt(due));
        assertThat(inserted.dueAt()).isEqualTo(due);
        assertThat(read(inserted.id()).times().dueAt()).isEqualTo(due);
        assertThat(read(inserted.id()).status().waitReason()).isEqualTo(WaitReason.DELAYED);
    }

    @Test
    default void a_due_time_in_the_past_means_now() {
        Job job = read(add(TestJobs.spec("late").dueAt(Instant.EPOCH)));
        assertThat(job.times().dueAt()).isEqualTo(job.times().createdAt());
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.NEW);
    }

    @Test
    default void the_deadline_counts_from_the_first_due_time() {
        RetryPolicy policy = RetryPolicy.unset().deadline(Duration.ofHours(2));
        Job job = read(add(TestJobs.spec("soon").delay(Duration.ofHours(1)).policy(policy)));
        assertThat(job.times().deadline()).isEqualTo(job.times().firstDueAt().plus(Duration.ofHours(2)));
    }

    @Test
    default void a_policy_that_sets_no_deadline_gives_none() {
        assertThat(read(add(TestJobs.spec("unset"))).times().deadline()).isNull();
        RetryPolicy none = RetryPolicy.unset().noDeadline();
        assertThat(read(add(TestJobs.spec("none").policy(none))).times().deadline())
                .isNull();
    }

    @Test
    default void a_missing_job_is_not_found() {
        JobId missing = new JobId(Long.MAX_VALUE - 1);
        assertThat(store().find(missing)).isEmpty();
        assertThat(store().attempts(missing)).isEmpty();
    }
}
