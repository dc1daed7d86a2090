// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims that ask for some types of jobs only. */
public interface TypeContract extends StoreFixture {

    @Test
    default void a_claim_takes_only_the_types_it_asks_for() {
        add(Jobs.spec("mail"));
        JobId video = add(Jobs.spec("video"));
        add(Jobs.spec("vide"));
        JobId audio = add(Jobs.spec("audio").priority(3));
        assertThat(Claims.ids(claim(Claims.upTo(10).types("video", "audio")))).containsExactly(audio, video);
        assertThat(claim(Claims.upTo(10).types("video", "audio"))).isEmpty();
        assertThat(Claims.jobs(claim(Claims.upTo(10)))).extracting(Job::type).containsExactly("mail", "vide");
    }

    @Test
    default void jobs_of_other_types_do_not_hide_those_behind_them() {
        add(Collections.nCopies(250, Jobs.spec("mail").build()));
        JobId video = add(Jobs.spec("video"));
        assertThat(Claims.ids(claim(Claims.upTo(1).types("video")))).containsExactly(video);
        assertThat(Claims.jobs(claim(Claims.upTo(100).demands(new Demand("default", 100)))))
                .hasSize(100);
        JobId second = add(Jobs.spec("video"));
        assertThat(Claims.ids(claim(Claims.upTo(1).types("video")))).containsExactly(second);
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
        assertThat(Claims.ids(claim(Claims.upTo(10).types("b")))).containsExactly(ids.get(1), ids.get(3));
        assertThat(Claims.ids(claim(Claims.upTo(10)))).containsExactly(ids.get(0), ids.get(2));
        assertThat(count("default", JobState.RUNNING)).isEqualTo(4);
    }
}
