// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A chain survives its text, with everything that a follower asked for. */
class ChainTextTest {

    @Test
    void every_value_of_a_follower_is_kept() {
        JobSpec follower = JobSpec.builder("mail", "{\"to\":\"ada\"}")
                .queue("outbox")
                .priority(7)
                .delay(Duration.ofSeconds(3))
                .policy(RetryPolicy.fixed(Duration.ofSeconds(2)).maxAttempts(4))
                .resource("smtp")
                .group("tenant-7")
                .tags(Set.of("eu", "version:2"))
                .key("order-1", KeyRule.KEEP)
                .idempotencyKey("once-1")
                .timeout(Duration.ofSeconds(9))
                .build();
        Chain chain = new Chain(new JobId(5), List.of(new Chain.Link(Chain.CARRIER, true, follower)));

        JobSpec carrier = JobSpec.builder("ship", "{}").chain(chain.toJson()).build();

        assertThat(Chain.of(carrier)).contains(chain);
    }

    @Test
    void a_policy_that_many_followers_have_is_stored_once() {
        RetryPolicy patient = RetryPolicy.fixed(Duration.ofSeconds(2)).maxAttempts(4);
        RetryPolicy hasty = RetryPolicy.fixed(Duration.ofMillis(3)).maxAttempts(9);
        List<Chain.Link> links = new ArrayList<>();
        for (int i = 0; i < Chain.MAX_LINKS; i++) {
            JobSpec follower = JobSpec.builder("mail", "{}")
                    .policy(i % 2 == 0 ? patient : hasty)
                    .build();
            links.add(new Chain.Link(Chain.CARRIER, false, follower));
        }
        Chain chain = new Chain(null, links);

        String json = chain.toJson();

        assertThat(json).containsOnlyOnce("\\\"maxAttempts\\\":4").containsOnlyOnce("\\\"maxAttempts\\\":9");
        assertThat(Chain.of(JobSpec.builder("ship", "{}").chain(json).build())).contains(chain);
    }

    @Test
    void a_chain_whose_jobs_have_their_own_policies_is_read_as_before() {
        RetryPolicy policy = RetryPolicy.fixed(Duration.ofSeconds(2)).maxAttempts(4);
        String json = "{\"links\":[{\"of\":-1,\"when\":\"success\",\"type\":\"a\",\"payload\":\"{}\","
                + "\"queue\":\"q\",\"policy\":\"" + policy.toJson().replace("\"", "\\\"") + "\"}]}";

        JobSpec carrier = JobSpec.builder("ship", "{}").chain(json).build();

        assertThat(Chain.of(carrier).orElseThrow().links().get(0).spec().policy())
                .isEqualTo(policy);
    }

    @Test
    void a_chain_that_names_no_policy_of_its_own_cannot_be_read() {
        String json = "{\"links\":[{\"of\":-1,\"when\":\"success\",\"type\":\"a\",\"payload\":\"{}\","
                + "\"queue\":\"q\",\"policy\":0}]}";

        JobSpec carrier = JobSpec.builder("ship", "{}").chain(json).build();

        assertThatIllegalArgumentException().isThrownBy(() -> Chain.of(carrier));
    }
}
