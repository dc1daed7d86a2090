// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The curves of others, against what they say of themselves. */
class CandidateTest {

    private static RetryPlan.Step step(Candidate candidate, int retry) {
        return RetryPlan.of(candidate.policies().get(0), attempts(candidate) - 1)
                .steps()
                .get(retry - 1);
    }

    private static int attempts(Candidate candidate) {
        return candidate.policies().get(0).maxAttempts().toOptional().orElseThrow();
    }

    private static Duration worst(Candidate candidate) {
        List<RetryPlan.Step> steps = RetryPlan.of(candidate.policies().get(0), attempts(candidate) - 1)
                .steps();
        return steps.get(steps.size() - 1).cumulativeMax();
    }

    @Test
    void river_waits_the_fourth_power_give_or_take_a_tenth() {
        RetryPlan.Step third = step(Candidate.river(), 3);
        assertThat(third.min()).isEqualTo(Duration.ofMillis(72_900));
        assertThat(third.max()).isEqualTo(Duration.ofMillis(89_100));
        assertThat(attempts(Candidate.river())).isEqualTo(25);
    }

    @Test
    void sidekiq_waits_the_fourth_power_and_fifteen_and_up_to_nine_times_the_retry() {
        for (RetryPolicy drawn : Candidate.sidekiq().policies()) {
            Duration fifth = RetryPlan.of(drawn, 5).steps().get(4).max();
            assertThat(fifth).isBetween(Duration.ofSeconds(271), Duration.ofSeconds(271 + 9 * 5));
        }
        assertThat(attempts(Candidate.sidekiq())).isEqualTo(26);
    }

    @Test
    void oban_waits_fifteen_and_a_power_of_two_and_up_to_a_tenth_more() {
        RetryPlan.Step fourth = step(Candidate.oban(), 4);
        assertThat(fourth.min()).isBetween(Duration.ofMillis(30_990), Duration.ofMillis(31_010));
        assertThat(fourth.max()).isBetween(Duration.ofMillis(34_090), Duration.ofMillis(34_110));
        assertThat(attempts(Candidate.oban())).isEqualTo(20);
    }

    @Test
    void jobrunr_gives_up_after_88572_seconds() {
        assertThat(worst(Candidate.jobRunr())).isEqualTo(Duration.ofSeconds(88_572));
        assertThat(attempts(Candidate.jobRunr())).isEqualTo(11);
    }

    @Test
    void every_table_has_our_default_first_and_only_ours_is_controlled() {
        assertThat(Candidate.all().get(0)).isEqualTo(Candidate.REPRISE);
        assertThat(Candidate.all().stream().filter(Candidate::controlled)).containsExactly(Candidate.REPRISE);
        assertThat(Candidate.REPRISE.policies()).containsExactly(RetryPolicy.DEFAULT);
    }

    @Test
    void a_policy_of_ones_own_runs_with_control_and_without() {
        assertThat(Candidate.own("mine", RetryPolicy.none()))
                .extracting(Candidate::name, Candidate::controlled)
                .containsExactly(tuple("mine", true), tuple("mine-policy-only", false));
    }
}
