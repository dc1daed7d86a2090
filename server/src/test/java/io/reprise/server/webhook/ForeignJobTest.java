// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import org.junit.jupiter.api.Test;

/** However a notice came to be stored, it tells nobody of a job that is not theirs. */
class ForeignJobTest {

    @Test
    void a_delivery_says_nothing_of_a_job_of_another_tenant() {
        try (WebhookFixture world = new WebhookFixture((payload, job) -> {
            throw JobSignal.fail("card 4111-1111 of Alice declined");
        })) {
            JobId victims = world.reprise.enqueue(WebhookFixture.WORK.job("x").queue("victim/q"));
            world.worker.runDue();
            Subscription evil = world.subscribe("wh_evil", "evil", WebhookFixture.ALL);
            Notice forged = new Notice(
                    evil.id(), "failed", victims.value(), 0, "work", "q", null, null, 1, null, null, null, null);
            world.reprise.enqueue(WebhookOutbox.delivery(evil, forged));
            world.worker.runDue();
            assertThat(world.deliveries(JobState.SUCCEEDED)).hasSize(1);
            assertThat(world.stub.seen)
                    .singleElement()
                    .satisfies(seen -> assertThat(seen.body()).doesNotContain("4111-1111"));
        }
    }
}
