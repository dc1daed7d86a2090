// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.DeadGroup;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import io.reprise.store.QueueState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lists and counts read a limited number of rows, and say so. */
public interface LookContract extends StoreFixture {

    /** The number of rows that one page reads here. */
    int LOOKS = 100;

    /** More rows than one page reads. */
    int MANY = LOOKS + 50;

    /** A query with the limit of rows. */
    JobQuery ANY = JobQuery.all().looks(LOOKS);

    @Test
    default void a_page_stops_after_so_many_rows_and_leads_on() {
        JobId old = add(Jobs.spec("rare").queue("rare"));
        addMany(MANY, "noise");
        JobId young = add(Jobs.spec("rare").queue("rare"));
        for (JobQuery query : List.of(
                ANY.type("rare"),
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
        assertThat(store().find(ANY.limit(LOOKS / 5)).items()).hasSize(LOOKS / 5);
        assertThat(store().find(ANY.type("noise").limit(LOOKS / 5)).items()).hasSize(LOOKS / 5);
        assertThat(store().find(ANY.state(JobState.PENDING).limit(LOOKS / 5)).items())
                .hasSize(LOOKS / 5);
    }

    @Test
    default void dead_letters_are_found_behind_any_number_of_others() {
        JobId dead = deadLetter(Jobs.spec("dead"));
        addMany(MANY, "noise");
        String fingerprint = Settlements.failure().fingerprint();
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
            Claim claim = claimOne(Claims.upTo(50));
            store().settle(
                            claim.jobs().stream()
                                    .map(job -> Settlements.fail(claim, job))
                                    .toList(),
                            List.of());
            left -= claim.jobs().size();
        }
        Page<DeadGroup> first = store().deadGroups(ANY.brief(), 10);
        assertThat(first.next()).isNotNull();
        assertThat(first.items())
                .singleElement()
                .satisfies(group -> assertThat(group.count()).isBetween(1L, (long) LOOKS));
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
                .mapToObj(n -> Jobs.on("small-" + n).build())
                .toList();
        add(one);
        int many = QueueState.countable(queues + 1) + 200;
        add(Collections.nCopies(many, Jobs.on("large").priority(-3).build()));
        JobId oldest = add(Jobs.on("large").priority(-9));
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
        add(Collections.nCopies(jobs, Jobs.spec(type).build()));
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
