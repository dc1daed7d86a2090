// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.store.Claim;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Finding jobs: every filter, and pages without gaps or duplicates. */
public interface QueryContract extends StoreFixture {

    @Test
    default void an_empty_store_answers_with_an_empty_last_page() {
        assertThat(store().find(JobQuery.all())).isEqualTo(new Page<>(List.of(), null));
    }

    @Test
    default void jobs_come_newest_first_as_they_stand() {
        List<JobId> ids = new ArrayList<>(add(TestJobs.many(3)));
        succeed(claimOne());
        Collections.reverse(ids);
        List<Job> found = store().find(JobQuery.all()).items();
        assertThat(found).extracting(Job::id).isEqualTo(ids);
        assertThat(found).allSatisfy(job -> assertThat(job).isEqualTo(read(job.id())));
    }

    @Test
    default void jobs_are_found_without_what_may_be_long() {
        add(TestJobs.spec("a"));
        succeed(claimOne());
        deadLetter(TestJobs.spec("b"));
        add(TestJobs.spec("c"));
        claimOne();
        add(TestJobs.spec("d"));
        List<Job> whole = store().find(JobQuery.all()).items();
        List<Job> brief = store().find(JobQuery.all().brief()).items();
        assertThat(brief).hasSize(4).zipSatisfy(whole, (job, same) -> {
            assertThat(job).isEqualTo(same.brief()).isNotEqualTo(same);
        });
        assertThat(store().deadGroups(JobQuery.all().brief(), 10).items())
                .singleElement()
                .satisfies(group -> assertThat(group.latest().spec().payload()).isEqualTo("null"));
    }

    @Test
    default void jobs_are_found_by_state() {
        JobId failed = deadLetter(TestJobs.spec("a"));
        JobId succeeded = add(TestJobs.spec("b"));
        succeed(claimOne());
        JobId running = add(TestJobs.spec("c"));
        claimOne();
        JobId pending = add(TestJobs.spec("d"));
        JobId cancelled = add(TestJobs.spec("e"));
        store().cancel(cancelled, NOTE);
        assertThat(ids(JobQuery.deadLetters())).containsExactly(failed);
        assertThat(ids(JobQuery.all().state(JobState.SUCCEEDED))).containsExactly(succeeded);
        assertThat(ids(JobQuery.all().state(JobState.RUNNING))).containsExactly(running);
        assertThat(ids(JobQuery.all().state(JobState.PENDING))).containsExactly(pending);
        assertThat(ids(JobQuery.all().state(JobState.CANCELLED))).containsExactly(cancelled);
        assertThat(ids(JobQuery.all().state(JobState.PENDING, JobState.RUNNING, JobState.FAILED)))
                .containsExactly(pending, running, failed);
    }

    @Test
    default void jobs_are_found_by_what_they_were_asked_to_be() {
        JobId one = add(TestJobs.spec("mail").queue("a").resource("smtp").tags(Set.of("x", "y")));
        JobId two = add(TestJobs.spec("call").queue("b").resource("sip").tags(Set.of("y", "xx")));
        add(TestJobs.spec("plain"));
        assertThat(ids(JobQuery.all().queue("a"))).containsExactly(one);
        assertThat(ids(JobQuery.all().type("call"))).containsExactly(two);
        assertThat(ids(JobQuery.all().resource("smtp"))).containsExactly(one);
        assertThat(ids(JobQuery.all().tag("x"))).containsExactly(one);
        assertThat(ids(JobQuery.all().tag("y"))).containsExactly(two, one);
        assertThat(ids(JobQuery.all().tag("y").queue("a").type("mail"))).containsExactly(one);
        assertThat(ids(JobQuery.all().tag("y").queue("a").type("call"))).isEmpty();
    }

    @Test
    default void filters_find_finished_jobs_too() {
        JobId id = add(TestJobs.spec("mail").resource("smtp").tags(Set.of("x")).schedule("nightly"));
        succeed(claimOne());
        assertThat(ids(JobQuery.all().resource("smtp").tag("x").type("mail").schedule("nightly")))
                .containsExactly(id);
    }

    @Test
    default void jobs_are_found_by_the_schedule_that_made_them() {
        JobId id = add(TestJobs.spec("report").schedule("nightly"));
        add(TestJobs.spec("report"));
        assertThat(ids(JobQuery.all().schedule("nightly"))).containsExactly(id);
    }

    @Test
    default void jobs_are_found_by_the_fingerprint_of_their_latest_failure() {
        Failure first = Failure.of(FailureClass.TRANSIENT, "a.First", "one");
        Failure second = Failure.of(FailureClass.TRANSIENT, "b.Second", "two");
        JobId waiting = add(TestJobs.spec("waiting"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        claim = claimOne();
        settle(TestSettlements.fail(claim, only(claim), second));
        JobId dead = add(TestJobs.spec("dead"));
        claim = claimOne();
        settle(TestSettlements.fail(claim, only(claim), first));
        assertThat(ids(JobQuery.all().fingerprint(first.fingerprint()))).containsExactly(dead);
        assertThat(ids(JobQuery.deadLetters().fingerprint(second.fingerprint())))
                .containsExactly(waiting);
        assertThat(ids(JobQuery.all().fingerprint(TestSettlements.failure().fingerprint())))
                .isEmpty();
    }

    @Test
    default void jobs_are_found_by_time_of_creation() {
        JobId old = add(TestJobs.spec("old"));
        awaitNextInstant();
        JobId young = add(TestJobs.spec("young"));
        Instant between = read(young).times().createdAt();
        assertThat(ids(JobQuery.all().createdFrom(between))).containsExactly(young);
        assertThat(ids(JobQuery.all().createdBefore(between))).containsExactly(old);
        assertThat(ids(JobQuery.all().createdFrom(between).createdBefore(between)))
                .isEmpty();
    }

    @Test
    default void pages_have_neither_gaps_nor_doubles() {
        List<JobId> ids = new ArrayList<>(add(TestJobs.many(11)));
        settleSome();
        assertThat(walk(JobQuery.all().limit(3), () -> {}))
                .containsExactlyElementsOf(
                        ids.stream().sorted(Comparator.reverseOrder()).toList());
    }

    @Test
    default void jobs_that_arrive_while_paging_do_not_shift_pages() {
        List<JobId> ids = add(TestJobs.many(7));
        List<JobId> seen = walk(JobQuery.all().limit(2), () -> add(TestJobs.spec("new")));
        assertThat(seen)
                .containsExactlyElementsOf(
                        ids.stream().sorted(Comparator.reverseOrder()).toList());
    }

    @Test
    default void filtered_pages_have_neither_gaps_nor_doubles() {
        List<JobId> wanted = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            add(TestJobs.spec("noise"));
            wanted.add(0, add(TestJobs.spec("wanted")));
        }
        assertThat(walk(JobQuery.all().type("wanted").limit(2), () -> {})).isEqualTo(wanted);
    }

    @Test
    default void a_page_that_is_just_full_may_be_the_last() {
        add(TestJobs.many(4));
        Page<Job> first = store().find(JobQuery.all().limit(2));
        Page<Job> second = store().find(JobQuery.all().limit(2).after(first.next()));
        assertThat(second.items()).hasSize(2);
        if (second.next() != null) {
            assertThat(store().find(JobQuery.all().limit(2).after(second.next())))
                    .isEqualTo(new Page<>(List.of(), null));
        }
    }

    @Test
    default void a_bad_cursor_is_refused() {
        for (String cursor : List.of("", "nonsense", "-1", "1; drop table job", "\u0000", "9".repeat(40))) {
            assertThatIllegalArgumentException()
                    .as("cursor '%s'", cursor)
                    .isThrownBy(() -> store().find(JobQuery.all().after(cursor)));
        }
    }

    private List<JobId> ids(JobQuery query) {
        return store().find(query).items().stream().map(Job::id).toList();
    }

    /** Reads all pages in turn. */
    private List<JobId> walk(JobQuery query, Runnable betweenPages) {
        List<JobId> seen = new ArrayList<>();
        Page<Job> page = store().find(query);
        page.items().forEach(job -> seen.add(job.id()));
        while (page.next() != null) {
            assertThat(page.items()).hasSize(query.limit());
            betweenPages.run();
            page = store().find(query.after(page.next()));
            page.items().forEach(job -> seen.add(job.id()));
        }
        return seen;
    }

    private void settleSome() {
        Claim claim = claimOne(TestClaims.upTo(6));
        settle(
                TestSettlements.success(claim, claim.jobs().get(1)),
                TestSettlements.fail(claim, claim.jobs().get(3)),
                TestSettlements.retry(claim, claim.jobs().get(4), Duration.ofHours(1)));
    }
}
