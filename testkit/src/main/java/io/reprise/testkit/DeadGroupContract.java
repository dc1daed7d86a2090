// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.JobStatus;
import io.reprise.store.AuditEntry;
import io.reprise.store.DeadGroup;
import io.reprise.store.JobQuery;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Dead letters grouped by fingerprint, and queries by the prefix of a queue's name. */
public interface DeadGroupContract extends StoreFixture {

    @Test
    default void dead_letters_are_grouped_by_fingerprint() {
        deadLetter(Jobs.on("a"));
        JobId second = deadLetter(Jobs.on("b"));
        add(Jobs.on("a"));
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
        deadLetter(Jobs.on("a/one"));
        deadLetter(Jobs.on("a/two"));
        deadLetter(Jobs.on("ab"));
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
        JobId one = add(Jobs.on("a/one"));
        JobId two = add(Jobs.on("a/two"));
        add(Jobs.on("ab"));
        add(Jobs.on("A/one"));
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
