// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.Queue;
import io.reprise.job.JobSpec;
import org.junit.jupiter.api.Test;

class GroupRulesTest {

    @Test
    void an_exact_name_wins_over_a_beginning_and_a_longer_beginning_over_a_shorter_one() {
        GroupRules rules = GroupRules.EQUAL
                .weight("*", 2)
                .weight("gold-*", 5)
                .weight("gold-eu-*", 7)
                .weight("gold-eu-1", 9);
        assertThat(rules.weightOf("gold-eu-1")).isEqualTo(9);
        assertThat(rules.weightOf("gold-eu-2")).isEqualTo(7);
        assertThat(rules.weightOf("gold-us-1")).isEqualTo(5);
        assertThat(rules.weightOf("tin")).isEqualTo(2);
        assertThat(rules.weightOf("")).isEqualTo(2);
        assertThat(GroupRules.EQUAL.weightOf("tin")).isEqualTo(1);
    }

    @Test
    void a_bad_weight_or_name_is_refused_by_name() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").weight("gold", 0))
                .withMessageContaining("gold")
                .withMessageContaining("1 to 1000");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GroupRules.EQUAL.weight("a b", 2))
                .withMessageContaining("group 'a b'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JobSpec.builder("mail", "{}").group("a\u0001b"))
                .withMessageContaining("group");
    }

    @Test
    void names_with_weights_are_limited_in_number() {
        GroupRules rules = GroupRules.EQUAL;
        for (int i = 0; i < GroupRules.MAX_WEIGHTS; i++) {
            rules = rules.weight("group-" + i, 2);
        }
        GroupRules full = rules;
        assertThat(full.weight("group-1", 3).weightOf("group-1")).isEqualTo(3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> full.weight("one-more", 2))
                .withMessageContaining("1000");
    }
}
