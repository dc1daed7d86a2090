// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims that ask for some types of jobs only. */
public interface TypeContract extends StoreFixture {

    /** Repeats a claim, because a scan that stepped over many jobs of other types pauses. */
    private List<Claim> claimSoon(Claims request) {
        List<Claim> claims = new ArrayList<>();
        await(() -> claims.addAll(claim(request)));
        return claims;
    }

    @Test
    default void a_claim_takes_only_the_types_it_asks_for() {
        add(Jobs.spec("mail"));
        JobId video = add(Jobs.spec("video"));
        add(Jobs.spec("vide"));
        JobId audio = add(Jobs.spec("audio").priority(3));
        assertThat(Claims.ids(claimSoon(Claims.upTo(10).types("video", "audio"))))
                .containsExactly(audio, video);
        assertThat(claim(Claims.upTo(10).types("video", "audio"))).isEmpty();
        assertThat(Claims.jobs(claim(Claims.upTo(10)))).extracting(Job::type).containsExactly("mail", "vide");
    }

    @Test
    default void a_claim_takes_any_types_but_those_it_names() {
        JobId mail = add(Jobs.spec("mail"));
        add(Jobs.spec("video"));
        JobId vide = add(Jobs.spec("vide"));
        add(Jobs.spec("audio"));
        assertThat(claim(Claims.upTo(10).typesBut("video", "audio", "mail", "vide")))
                .isEmpty();
        assertThat(Claims.ids(claimSoon(Claims.upTo(10).typesBut("video", "audio"))))
                .containsExactly(mail, vide);
        assertThat(Claims.jobs(claim(Claims.upTo(10)))).extracting(Job::type).containsExactly("video", "audio");
    }

    @Test
    default void jobs_of_other_types_do_not_hide_those_behind_them() {
        add(Collections.nCopies(250, Jobs.spec("mail").build()));
        JobId video = add(Jobs.spec("video"));
        assertThat(Claims.ids(claimSoon(Claims.upTo(1).types("video")))).containsExactly(video);
        assertThat(Claims.jobs(claim(Claims.upTo(100).demands(new Demand("default", 100)))))
                .hasSize(100);
        JobId second = add(Jobs.spec("video"));
        assertThat(Claims.ids(claimSoon(Claims.upTo(1).types("video")))).containsExactly(second);
    }

    @Test
    default void a_worker_of_a_rare_type_gets_all_of_its_jobs_behind_many_others() {
        List<JobSpec> jobs =
                new ArrayList<>(Collections.nCopies(3_000, Jobs.spec("mail").build()));
        for (int i = 0; i < jobs.size(); i += 600) {
            jobs.set(i, Jobs.spec("video").build());
        }
        add(jobs);
        List<Job> claimed = new ArrayList<>();
        await(() -> claimed.addAll(Claims.jobs(claim(Claims.upTo(2).types("video")))) && claimed.size() == 5);
        assertThat(claimed).extracting(Job::type).containsOnly("video");
        assertThat(claimed).extracting(Job::id).doesNotHaveDuplicates().isSorted();
    }

    @Test
    default void a_job_that_was_found_and_then_taken_by_another_is_not_claimed_twice() {
        add(Collections.nCopies(20, Jobs.spec("video").build()));
        List<Job> mine = new ArrayList<>(Claims.jobs(claimSoon(Claims.upTo(2).types("video"))));
        List<Job> others = Claims.jobs(claim(Claims.upTo(10).by("other")));
        assertThat(others).hasSize(10);
        await(() -> mine.addAll(Claims.jobs(claim(Claims.upTo(2).types("video")))) && mine.size() == 10);
        List<JobId> all = new ArrayList<>(mine.stream().map(Job::id).toList());
        all.addAll(others.stream().map(Job::id).toList());
        assertThat(all).hasSize(20).doesNotHaveDuplicates();
    }

    @Test
    default void retries_and_suspects_are_claimed_by_type_too() {
        add(Jobs.spec("mail"));
        Claim first = claimOne(Claims.upTo(1));
        settle(Settlements.retry(first, only(first), Duration.ZERO));
        assertThat(claim(Claims.upTo(1).types("video"))).isEmpty();
        await(() -> !claim(Claims.upTo(1).types("mail")).isEmpty());
    }

    @Test
    default void a_typed_claim_leaves_nothing_behind_for_an_untyped_one() {
        List<JobId> ids = add(List.of(
                Jobs.spec("a").build(),
                Jobs.spec("b").build(),
                Jobs.spec("a").build(),
                Jobs.spec("b").build()));
        assertThat(Claims.ids(claimSoon(Claims.upTo(10).types("b")))).containsExactly(ids.get(1), ids.get(3));
        assertThat(Claims.ids(claim(Claims.upTo(10)))).containsExactly(ids.get(0), ids.get(2));
        assertThat(count("default", JobState.RUNNING)).isEqualTo(4);
    }
}
