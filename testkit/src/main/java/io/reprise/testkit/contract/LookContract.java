// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.insight.DeadGroup;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.QueueState;
import io.reprise.store.Claim;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lists and counts read a limited number of rows, and say so. */
public interface LookContract extends StoreFixture {

    /** The number of rows that one page reads here. */
    int ROWS_PER_PAGE = 100;

    /** More rows than one page reads. */
    int MANY = ROWS_PER_PAGE + 50;

    /** A query with the limit of rows. */
    JobQuery ANY = JobQuery.all().looks(ROWS_PER_PAGE);

    @Test
    default void a_page_stops_after_so_many_rows_and_leads_on() {
        store().createBatch("rare", null, null);
        JobId old = add(TestJobs.spec("rare").queue("rare").batch("rare"));
        addMany(MANY, "noise");
        JobId young = add(TestJobs.spec("rare").queue("rare").batch("rare"));
        for (JobQuery query : List.of(
                ANY.type("rare"),
                ANY.batch("rare"),
                ANY.batch("rare").state(JobState.PENDING),
                ANY.queue("rare"),
                ANY.queuePrefix("ra"),
                ANY.type("rare").state(JobState.PENDING, JobState.RUNNING),
                ANY.createdBefore(Instant.EPOCH))) {
            Page<Job> first = store().find(query);
            assertThat(first.next()).as("next of %s", query).isNotNull();
            assertThat(first.items()).extracting(Job::id).doesNotContain(old);
            List<JobId> wanted = query.createdBefore() == null ? List.of(young, old) : List.of();
            assertThat(all(query)).as("%s", query).isEqualTo(wanted);
        }
    }

    @Test
    default void a_page_for_which_nothing_is_passed_is_full() {
        addMany(MANY, "noise");
        assertThat(store().find(ANY.limit(ROWS_PER_PAGE / 5)).items()).hasSize(ROWS_PER_PAGE / 5);
        assertThat(store().find(ANY.type("noise").limit(ROWS_PER_PAGE / 5)).items())
                .hasSize(ROWS_PER_PAGE / 5);
        assertThat(store().find(ANY.state(JobState.PENDING).limit(ROWS_PER_PAGE / 5))
                        .items())
                .hasSize(ROWS_PER_PAGE / 5);
    }

    @Test
    default void dead_letters_are_found_behind_any_number_of_others() {
        JobId dead = deadLetter(TestJobs.spec("dead"));
        addMany(MANY, "noise");
        String fingerprint = TestSettlements.failure().fingerprint();
        for (JobQuery query : List.of(
                ANY.state(JobState.FAILED),
                ANY.state(JobState.FAILED).queue("default"),
                ANY.state(JobState.FAILED).fingerprint(fingerprint))) {
            assertThat(store().find(query).items())
                    .as("%s", query)
                    .extracting(Job::id)
                    .containsExactly(dead);
        }
    }

    @Test
    default void groups_of_dead_letters_are_told_in_parts() {
        addMany(MANY, "dead");
        for (int left = MANY; left > 0; ) {
            Claim claim = claimOne(TestClaims.upTo(50));
            store().settle(
                            claim.jobs().stream()
                                    .map(job -> TestSettlements.fail(claim, job))
                                    .toList(),
                            List.of());
            left -= claim.jobs().size();
        }
        Page<DeadGroup> first = store().deadGroups(ANY.brief(), 10);
        assertThat(first.next()).isNotNull();
        assertThat(first.items())
                .singleElement()
                .satisfies(group -> assertThat(group.count()).isBetween(1L, (long) ROWS_PER_PAGE));
        long counted = first.items().get(0).count();
        Page<DeadGroup> page = first;
        while (page.next() != null) {
            page = store().deadGroups(ANY.brief().after(page.next()), 10);
            counted += page.items().stream().mapToLong(DeadGroup::count).sum();
        }
        assertThat(counted).isEqualTo(MANY);
        assertThat(store().deadGroups(ANY.type("none"), 10).items()).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> store().deadGroups(ANY.after("nonsense"), 10));
    }

    @Test
    default void a_count_that_was_not_finished_says_so() {
        int queues = 1_000;
        List<JobSpec> one = IntStream.range(0, queues)
                .mapToObj(n -> TestJobs.on("small-" + n).build())
                .toList();
        add(one);
        int many = QueueState.countable(queues + 1) + 200;
        add(Collections.nCopies(many, TestJobs.on("large").priority(-3).build()));
        JobId oldest = add(TestJobs.on("large").priority(-9));
        QueueState large = queue("large");
        if (large.atLeast().isEmpty()) {
            assertThat(large.count(JobState.PENDING)).isEqualTo(many + 1);
        } else {
            assertThat(large.atLeast()).containsExactly(JobState.PENDING);
            assertThat(large.count(JobState.PENDING)).isEqualTo(QueueState.countable(queues + 1));
        }
        assertThat(large.oldestDueAt())
                .isNotNull()
                .isBeforeOrEqualTo(read(oldest).times().dueAt());
        assertThat(queue("small-7").atLeast()).isEmpty();
        assertThat(count("small-7", JobState.PENDING)).isEqualTo(1);
        assertThat(store().live("large", 2_000_000)).isEqualTo(many + 1);
        assertThat(store().live("large", 100)).isEqualTo(100);
        assertThat(store().live("small-", 2_000_000)).isEqualTo(queues);
        assertThat(store().live("none", 10)).isZero();
    }

    private void addMany(int jobs, String type) {
        add(Collections.nCopies(jobs, TestJobs.spec(type).build()));
    }

    /** Reads all pages. */
    private List<JobId> all(JobQuery query) {
        List<JobId> found = new ArrayList<>();
        Page<Job> page = store().find(query);
        page.items().forEach(job -> found.add(job.id()));
        while (page.next() != null) {
            page = store().find(query.after(page.next()));
            page.items().forEach(job -> found.add(job.id()));
        }
        return found;
    }
}
