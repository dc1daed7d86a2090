// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.DeadGroup;
import io.reprise.job.AuditEntry;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestJobs;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Dead letters grouped by fingerprint, and queries by the prefix of a queue's name. */
public interface DeadGroupContract extends StoreFixture {

    @Test
    default void dead_letters_are_grouped_by_fingerprint() {
        deadLetter(TestJobs.on("a"));
        JobId second = deadLetter(TestJobs.on("b"));
        add(TestJobs.on("a"));
        List<DeadGroup> groups = store().deadGroups(JobQuery.all(), 10).items();
        assertThat(groups).hasSize(1);
        DeadGroup group = groups.get(0);
        Job latest = read(second);
        assertThat(group.count()).isEqualTo(2);
        assertThat(group.latest().id()).isEqualTo(second);
        assertThat(latest.status().lastError())
                .extracting(JobStatus.LastError::fingerprint)
                .isEqualTo(group.fingerprint());
        assertThat(group.lastAt()).isEqualTo(latest.times().finishedAt());
        assertThat(group.firstAt()).isBeforeOrEqualTo(group.lastAt());
    }

    @Test
    default void groups_count_only_what_the_query_matches() {
        deadLetter(TestJobs.on("a/one"));
        deadLetter(TestJobs.on("a/two"));
        deadLetter(TestJobs.on("ab"));
        assertThat(store().deadGroups(JobQuery.all().queue("ab"), 10).items())
                .extracting(DeadGroup::count)
                .containsExactly(1L);
        assertThat(store().deadGroups(JobQuery.all().queuePrefix("a/"), 10).items())
                .extracting(DeadGroup::count)
                .containsExactly(2L);
        assertThat(store().deadGroups(JobQuery.all().queue("none"), 10).items()).isEmpty();
        assertThat(store().deadGroups(JobQuery.all(), 1).items()).hasSize(1);
    }

    @Test
    default void jobs_are_found_by_the_beginning_of_their_queue() {
        JobId one = add(TestJobs.on("a/one"));
        JobId two = add(TestJobs.on("a/two"));
        add(TestJobs.on("ab"));
        add(TestJobs.on("A/one"));
        JobQuery query = JobQuery.all().queuePrefix("a/");
        assertThat(store().find(query).items()).extracting(Job::id).containsExactly(two, one);
        assertThat(store().find(query.queue("a/one").state(JobState.PENDING)).items())
                .extracting(Job::id)
                .containsExactly(one);
    }

    @Test
    default void something_done_by_hand_can_be_noted_by_itself() {
        store().note("trigger-schedule", "nightly", NOTE, "as job 1");
        assertThat(store().audit(null, 10)).singleElement().satisfies(entry -> {
            assertThat(entry.subject()).isEqualTo("nightly");
            assertThat(entry).extracting(AuditEntry::action).isEqualTo("trigger-schedule");
            assertThat(entry.detail()).isEqualTo("as job 1");
        });
    }
}
