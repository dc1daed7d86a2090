// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
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
}
