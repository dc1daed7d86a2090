// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One subscription that cannot be told silences no other. */
class BadSubscriptionTest {

    private static Subscription to(WebhookFixture world, String id, String tenant, String url) {
        return new Subscription(
                id,
                tenant,
                url,
                null,
                WebhookFixture.ALL,
                Map.of(),
                List.of(new Subscription.Secret(world.webhooks.subscriptions().seal(world.secret), null)),
                null,
                world.clock.instant(),
                null,
                null);
    }

    @Test
    void a_long_host_name_of_a_tenant_is_told_like_any_other() {
        try (WebhookFixture world = new WebhookFixture((payload, job) -> {})) {
            world.subscribe("wh_operator", WebhookFixture.ALL);
            String host = "x".repeat(60) + "." + "y".repeat(60) + ".example.com";
            world.webhooks
                    .subscriptions()
                    .add(to(world, "wh_tenant", "t".repeat(32), "https://" + host + "/"), WebhookFixture.NOTE);
            JobId id = world.reprise.enqueue(WebhookFixture.WORK.job("x").queue("t".repeat(32) + "/q"));
            world.worker.runDue();
            assertThat(world.told()).containsExactly("job.succeeded " + id);
            assertThat(world.deliveries(JobState.PENDING))
                    .singleElement()
                    .satisfies(job -> assertThat(job.spec().resource())
                            .hasSizeLessThanOrEqualTo(100)
                            .endsWith(".example.com"));
        }
    }

    @Test
    void one_that_cannot_be_told_is_counted_and_the_others_are_told() {
        try (WebhookFixture world = new WebhookFixture((payload, job) -> {})) {
            world.webhooks
                    .subscriptions()
                    .add(to(world, "wh_bad", null, "no url at all, stored by somebody else"), WebhookFixture.NOTE);
            world.subscribe("wh_good", WebhookFixture.ALL);
            JobId id = world.reprise.enqueue(WebhookFixture.WORK.job("x"));
            world.worker.runDue();
            assertThat(world.told()).containsExactly("job.succeeded " + id);
            assertThat(world.webhooks.failures()).isEqualTo(1);
        }
    }
}
