// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims that ask for some types of jobs only. */
public interface TypeContract extends StoreFixture {

    /** Repeats a claim, because a scan that stepped over many jobs of other types pauses. */
    private List<Claim> claimSoon(TestClaims request) {
        List<Claim> claims = new ArrayList<>();
        await(() -> claims.addAll(claim(request)));
        return claims;
    }

    @Test
    default void a_claim_takes_only_the_types_it_asks_for() {
        add(TestJobs.spec("mail"));
        JobId video = add(TestJobs.spec("video"));
        add(TestJobs.spec("vide"));
        JobId audio = add(TestJobs.spec("audio").priority(3));
        assertThat(TestClaims.ids(claimSoon(TestClaims.upTo(10).types("video", "audio"))))
                .containsExactly(audio, video);
        assertThat(claim(TestClaims.upTo(10).types("video", "audio"))).isEmpty();
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10))))
                .extracting(Job::type)
                .containsExactly("mail", "vide");
    }

    @Test
    default void a_claim_takes_any_types_but_those_it_names() {
        JobId mail = add(TestJobs.spec("mail"));
        add(TestJobs.spec("video"));
        JobId vide = add(TestJobs.spec("vide"));
        add(TestJobs.spec("audio"));
        assertThat(claim(TestClaims.upTo(10).typesBut("video", "audio", "mail", "vide")))
                .isEmpty();
        assertThat(TestClaims.ids(claimSoon(TestClaims.upTo(10).typesBut("video", "audio"))))
                .containsExactly(mail, vide);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10))))
                .extracting(Job::type)
                .containsExactly("video", "audio");
    }

    @Test
    default void jobs_of_other_types_do_not_hide_those_behind_them() {
        add(Collections.nCopies(250, TestJobs.spec("mail").build()));
        JobId video = add(TestJobs.spec("video"));
        assertThat(TestClaims.ids(claimSoon(TestClaims.upTo(1).types("video")))).containsExactly(video);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(100).demands(new Demand("default", 100)))))
                .hasSize(100);
        JobId second = add(TestJobs.spec("video"));
        assertThat(TestClaims.ids(claimSoon(TestClaims.upTo(1).types("video")))).containsExactly(second);
    }

    @Test
    default void a_worker_of_a_rare_type_gets_all_of_its_jobs_behind_many_others() {
        List<JobSpec> jobs =
                new ArrayList<>(Collections.nCopies(3_000, TestJobs.spec("mail").build()));
        for (int i = 0; i < jobs.size(); i += 600) {
            jobs.set(i, TestJobs.spec("video").build());
        }
        add(jobs);
        List<Job> claimed = new ArrayList<>();
        await(() -> claimed.addAll(TestClaims.jobs(claim(TestClaims.upTo(2).types("video")))) && claimed.size() == 5);
        assertThat(claimed).extracting(Job::type).containsOnly("video");
        assertThat(claimed).extracting(Job::id).doesNotHaveDuplicates().isSorted();
    }

    @Test
    default void a_job_that_was_found_and_then_taken_by_another_is_not_claimed_twice() {
        add(Collections.nCopies(20, TestJobs.spec("video").build()));
        List<Job> mine =
                new ArrayList<>(TestClaims.jobs(claimSoon(TestClaims.upTo(2).types("video"))));
        List<Job> others = TestClaims.jobs(claim(TestClaims.upTo(10).by("other")));
        assertThat(others).hasSize(10);
        await(() -> mine.addAll(TestClaims.jobs(claim(TestClaims.upTo(2).types("video")))) && mine.size() == 10);
        List<JobId> all = new ArrayList<>(mine.stream().map(Job::id).toList());
        all.addAll(others.stream().map(Job::id).toList());
        assertThat(all).hasSize(20).doesNotHaveDuplicates();
    }

    @Test
    default void retries_and_suspects_are_claimed_by_type_too() {
        add(TestJobs.spec("mail"));
        Claim first = claimOne(TestClaims.upTo(1));
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        assertThat(claim(TestClaims.upTo(1).types("video"))).isEmpty();
        await(() -> !claim(TestClaims.upTo(1).types("mail")).isEmpty());
    }

    @Test
    default void a_typed_claim_leaves_nothing_behind_for_an_untyped_one() {
        List<JobId> ids = add(List.of(
                TestJobs.spec("a").build(),
                TestJobs.spec("b").build(),
                TestJobs.spec("a").build(),
                TestJobs.spec("b").build()));
        assertThat(TestClaims.ids(claimSoon(TestClaims.upTo(10).types("b")))).containsExactly(ids.get(1), ids.get(3));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactly(ids.get(0), ids.get(2));
        assertThat(count("default", JobState.RUNNING)).isEqualTo(4);
    }
}
