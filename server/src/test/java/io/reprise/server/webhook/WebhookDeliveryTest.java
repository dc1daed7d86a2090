// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static io.reprise.server.webhook.WebhookFixture.ALL;
import static io.reprise.server.webhook.WebhookFixture.EXACT;
import static io.reprise.server.webhook.WebhookFixture.NOTE;
import static io.reprise.server.webhook.WebhookFixture.WORK;
import static io.reprise.server.webhook.WebhookFixture.events;
import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.reprise.insight.Alert;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.delivery.Stub;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The real engine in virtual time, telling a real socket. */
class WebhookDeliveryTest {

    private static final Duration SOON = Duration.ofSeconds(1);

    private static WebhookFixture failing() {
        return new WebhookFixture((payload, job) -> {
            throw new java.net.SocketTimeoutException("Connection timeout");
        });
    }

    /** CD-14: status, retryCount, maxRetries and error, and with them what was stored. */
    @Test
    void every_step_is_told_with_the_values_that_were_stored() {
        try (WebhookFixture webhooks = failing()) {
            webhooks.subscribe("all", ALL);
            JobId id = webhooks.reprise.enqueue(WORK.job("x").retry(EXACT).tags("blue"));
            webhooks.worker.runDue();
            Instant stored = webhooks.job(id).nextRetryAt();
            webhooks.worker.advance(Duration.ofMinutes(1));
            JsonNode first = webhooks.bodies().get(0);
            assertThat(first.get("type").stringValue()).isEqualTo("job.retrying");
            JsonNode data = first.get("data");
            assertThat(data.get("jobId").stringValue()).isEqualTo(id.toString());
            assertThat(data.get("status").stringValue()).isEqualTo("retrying");
            assertThat(data.get("retryCount").intValue()).isEqualTo(1);
            assertThat(data.get("maxRetries").intValue()).isEqualTo(1);
            assertThat(data.get("isRetryable").booleanValue()).isTrue();
            assertThat(data.get("nextRetryAt").stringValue()).isEqualTo(String.valueOf(stored));
            assertThat(data.get("error").stringValue()).isEqualTo("Connection timeout");
            assertThat(data.get("errorType").stringValue()).isEqualTo("java.net.SocketTimeoutException");
            assertThat(data.get("tags").get(0).stringValue()).isEqualTo("blue");
            assertThat(first.get("timestamp").stringValue())
                    .isEqualTo(webhooks.reprise.attempts(id).get(0).endedAt().toString());
            JsonNode last = webhooks.bodies().get(1).get("data");
            assertThat(last.get("status").stringValue()).isEqualTo("failed");
            assertThat(last.get("attempts").intValue()).isEqualTo(2);
            assertThat(last.get("retryCount").intValue()).isEqualTo(1);
            assertThat(last.get("failReason").stringValue()).isEqualTo("EXHAUSTED");
            assertThat(last.get("isRetryable").booleanValue()).isFalse();
            assertThat(last.has("nextRetryAt")).isFalse();
        }
    }

    @Test
    void what_a_limit_of_a_branch_exhausted_is_told_as_not_retryable() {
        try (WebhookFixture webhooks = failing()) {
            webhooks.subscribe("all", ALL);
            webhooks.reprise.enqueue(WORK.job("x")
                    .retry(EXACT.maxAttempts(5)
                            .onType("java.io.IOException")
                            .maxAttempts(1)
                            .policy()));
            webhooks.worker.advance(Duration.ofMinutes(1));
            JsonNode data = webhooks.bodies().get(0).get("data");
            assertThat(data.get("failReason").stringValue()).isEqualTo("EXHAUSTED");
            assertThat(data.get("maxAttempts").intValue()).isEqualTo(5);
            assertThat(data.get("isRetryable").booleanValue()).isFalse();
        }
    }

    @Test
    void what_was_stored_is_told_even_if_the_job_has_moved_on() {
        try (WebhookFixture webhooks = failing()) {
            webhooks.subscribe("all", ALL);
            webhooks.reprise.as("ada", null).pause(WebhookOutbox.QUEUE);
            JobId id = webhooks.reprise.enqueue(WORK.job("x").retry(EXACT));
            webhooks.worker.runDue();
            Instant stored = webhooks.job(id).nextRetryAt();
            webhooks.worker.advance(Duration.ofMinutes(1));
            assertThat(webhooks.job(id).state()).isEqualTo(JobState.FAILED);
            webhooks.reprise.as("ada", null).resume(WebhookOutbox.QUEUE);
            webhooks.worker.advance(SOON);
            JsonNode data = webhooks.bodies().get(0).get("data");
            assertThat(data.get("status").stringValue()).isEqualTo("retrying");
            assertThat(data.get("attempts").intValue()).isEqualTo(1);
            assertThat(data.get("nextRetryAt").stringValue()).isEqualTo(String.valueOf(stored));
        }
    }

    @Test
    void of_a_job_that_is_gone_it_tells_what_it_can() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            webhooks.reprise.as("ada", null).pause(WebhookOutbox.QUEUE);
            JobId id = webhooks.reprise.enqueue(WORK.job("x").queue("mail"));
            webhooks.worker.advance(SOON);
            webhooks.reprise.as("ada", null).discard(id);
            webhooks.reprise.as("ada", null).resume(WebhookOutbox.QUEUE);
            webhooks.worker.advance(SOON);
            JsonNode data = webhooks.bodies().get(0).get("data");
            assertThat(data.get("jobId").stringValue()).isEqualTo(id.toString());
            assertThat(data.get("status").stringValue()).isEqualTo("succeeded");
            assertThat(data.get("queue").stringValue()).isEqualTo("mail");
            assertThat(data.get("attempts").intValue()).isEqualTo(1);
        }
    }

    @Test
    void jobs_that_end_without_a_run_are_told_of_too() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {
            throw JobSignal.cancel("not needed");
        })) {
            webhooks.subscribe("all", ALL);
            JobId byHand = webhooks.reprise.enqueue(WORK.job("x").after(Duration.ofDays(1)));
            webhooks.reprise.as("ada", null).cancel(byHand);
            JobId late = webhooks.reprise.enqueue(
                    WORK.job("x").after(Duration.ofDays(1)).queue("slow").retry(EXACT.deadline(Duration.ofSeconds(5))));
            webhooks.reprise.as("ada", null).pause("slow");
            JobId itself = webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(SOON);
            assertThat(webhooks.told()).containsExactlyInAnyOrder("job.cancelled " + byHand, "job.cancelled " + itself);
            webhooks.worker.advance(Duration.ofDays(1).plusSeconds(30));
            assertThat(webhooks.job(late).failReason()).isEqualTo(FailReason.DEADLINE);
            JsonNode data = webhooks.bodies().get(2).get("data");
            assertThat(data.get("failReason").stringValue()).isEqualTo("DEADLINE");
            assertThat(data.get("attempts").intValue()).isZero();
        }
    }

    @Test
    void a_delivery_is_signed_and_can_be_checked_with_either_secret_while_they_rotate() throws Exception {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            SigningSecret next = SigningSecret.random(new SecureRandom());
            Instant now = java.time.InstantSource.system().instant();
            webhooks.webhooks
                    .subscriptions()
                    .change(
                            "all",
                            each -> each.rotated(
                                    webhooks.webhooks.subscriptions().seal(next), now, now.plusSeconds(3_600)),
                            "rotate-secret",
                            NOTE);
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(SOON);
            Stub.Seen seen = webhooks.stub.seen.get(0);
            Map<String, List<String>> headers = seen.headers().entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey, each -> List.of(each.getValue())));
            new Webhook(next.reveal()).verify(seen.body(), headers);
            new Webhook(webhooks.secret.reveal()).verify(seen.body(), headers);
            assertThat(seen.header("x-receiver")).isEqualTo("all");
            Subscription rotated = webhooks.webhooks.subscriptions().known().get(0);
            assertThat(rotated.signing(now.plusSeconds(3_601))).hasSize(1);
        }
    }

    @Test
    void a_receiver_in_trouble_hears_it_again_under_the_same_id() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            webhooks.replies.addAll(List.of(Stub.Reply.of(500), Stub.Reply.of(404), Stub.Reply.of(200)));
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(Duration.ofMinutes(10));
            assertThat(webhooks.stub.seen)
                    .extracting(seen -> seen.header("webhook-id"))
                    .hasSize(3)
                    .containsOnly(webhooks.stub.seen.get(0).header("webhook-id"));
            assertThat(webhooks.stub.seen)
                    .extracting(seen -> seen.header("reprise-attempt"))
                    .containsExactly("1", "2", "3");
            assertThat(webhooks.deliveries(JobState.SUCCEEDED)).hasSize(1);
        }
    }

    @Test
    void a_receiver_that_does_not_recover_is_tried_for_a_day_and_a_half_as_documented() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(SOON);
            RetryPolicy stored =
                    webhooks.deliveries(JobState.SUCCEEDED).get(0).policy().complete();
            List<Duration> delays = RetryPlan.of(stored, 9).steps().stream()
                    .map(RetryPlan.Step::raw)
                    .toList();
            assertThat(delays.get(4)).isEqualTo(Duration.ofHours(2));
            assertThat(delays.get(8)).isEqualTo(Duration.ofHours(10));
            assertThat(delays.stream().reduce(Duration.ZERO, Duration::plus))
                    .isBetween(Duration.ofHours(37), Duration.ofHours(38));
            assertThat(stored.maxAttempts().toOptional()).contains(10);
            assertThat(stored.deadline().toOptional().orElseThrow())
                    .as("later than all of them")
                    .isGreaterThan(Duration.ofHours(43));
        }
    }

    @Test
    void a_delivery_is_a_job_of_its_own_queue_with_the_receiver_as_resource() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(SOON);
            Job delivery = webhooks.deliveries(JobState.SUCCEEDED).get(0);
            assertThat(delivery.queue()).isEqualTo("webhooks");
            assertThat(delivery.spec().resource()).isEqualTo("127.0.0.1");
            assertThat(delivery.maxAttempts()).hasValue(10);
            assertThat(webhooks.stub.seen)
                    .as("no event says that a delivery was made")
                    .hasSize(1);
        }
    }

    @Test
    void gone_disables_the_subscription_and_what_waits_is_not_sent() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            webhooks.replies.add(Stub.Reply.of(410));
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(SOON);
            assertThat(webhooks.webhooks.subscriptions().known().get(0).disabled())
                    .contains("410");
            assertThat(webhooks.deliveries(JobState.FAILED)).hasSize(1);
            webhooks.reprise.enqueue(WORK.job("y"));
            webhooks.worker.advance(SOON);
            assertThat(webhooks.stub.seen).hasSize(1);
        }
    }

    @Test
    void what_waits_for_a_subscription_that_was_disabled_or_deleted_is_cancelled() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("off", ALL);
            webhooks.subscribe("gone", ALL);
            webhooks.reprise.as("ada", null).pause(WebhookOutbox.QUEUE);
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(SOON);
            webhooks.webhooks.subscriptions().change("off", each -> each.disabled("enough"), "disable", NOTE);
            webhooks.webhooks.subscriptions().remove("gone", NOTE);
            webhooks.reprise.as("ada", null).resume(WebhookOutbox.QUEUE);
            webhooks.worker.advance(SOON);
            assertThat(webhooks.deliveries(JobState.CANCELLED)).hasSize(2);
            assertThat(webhooks.stub.seen).isEmpty();
        }
    }

    @Test
    void a_redirect_is_not_followed() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("all", ALL);
            webhooks.replies.add(Stub.Reply.of(308).header("Location", "/elsewhere"));
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(Duration.ofHours(1));
            assertThat(webhooks.deliveries(JobState.FAILED)).hasSize(1);
            assertThat(webhooks.stub.seen).hasSize(1);
        }
    }

    @Test
    void filters_choose_what_is_told() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {
            if (payload.equals("bad")) {
                throw new IllegalArgumentException("bad");
            }
        })) {
            webhooks.subscribe("failures", events(EventType.FAILED));
            webhooks.subscribe("mail", new Subscription.Filter(Set.of(), Set.of("mail"), Set.of(), Set.of()));
            webhooks.subscribe("other", new Subscription.Filter(Set.of(), Set.of(), Set.of("other"), Set.of()));
            webhooks.subscribe("red", new Subscription.Filter(Set.of(), Set.of(), Set.of("work"), Set.of("red")));
            webhooks.reprise.enqueue(WORK.job("bad"));
            webhooks.reprise.enqueue(WORK.job("good").queue("mail"));
            webhooks.reprise.enqueue(WORK.job("good").tags("red", "blue"));
            webhooks.worker.advance(SOON);
            assertThat(webhooks.stub.seen)
                    .extracting(Stub.Seen::path)
                    .containsExactlyInAnyOrder("/failures", "/mail", "/red");
        }
    }

    @Test
    void a_tenants_subscription_hears_of_its_own_jobs_only() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("acme", "acme", ALL);
            webhooks.reprise.enqueue(WORK.job("x").queue("acme/mail"));
            webhooks.reprise.enqueue(WORK.job("x").queue("acmeother/mail"));
            webhooks.reprise.enqueue(WORK.job("x").queue("mail"));
            webhooks.worker.advance(SOON);
            assertThat(webhooks.bodies()).hasSize(1);
            assertThat(webhooks.bodies().get(0).get("data").get("queue").stringValue())
                    .isEqualTo("mail");
            assertThat(webhooks.deliveries(JobState.SUCCEEDED).get(0).queue()).isEqualTo("acme/webhooks");
        }
    }

    @Test
    void an_alert_reaches_those_who_want_it_once_however_many_servers_look() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            webhooks.subscribe("wants", WebhookFixture.events(EventType.ALERT));
            webhooks.subscribe("all", ALL);
            webhooks.subscribe("tenant", "acme", WebhookFixture.events(EventType.ALERT));
            Alert alert = new Alert(Alert.Kind.RETRY_COUNT, "mail", 12, 10, webhooks.clock.instant(), null);
            webhooks.store.raise(alert);
            AlertNotices one = notices(webhooks);
            AlertNotices other = notices(webhooks);
            one.look(webhooks.reprise);
            other.look(webhooks.reprise);
            one.look(webhooks.reprise);
            webhooks.worker.advance(SOON);
            assertThat(webhooks.told()).containsExactly("alert.raised ");
            JsonNode data = webhooks.bodies().get(0).get("data");
            assertThat(data.get("message").stringValue()).isEqualTo(alert.message());
            assertThat(data.get("kind").stringValue()).isEqualTo("RETRY_COUNT");
            webhooks.store.clear(alert);
            one.look(webhooks.reprise);
            other.look(webhooks.reprise);
            webhooks.worker.advance(SOON);
            assertThat(webhooks.told()).containsExactly("alert.raised ", "alert.cleared ");
        }
    }

    private static AlertNotices notices(WebhookFixture webhooks) {
        return new AlertNotices(webhooks.store, webhooks.webhooks.subscriptions(), webhooks.clock);
    }

    @Test
    void a_subscription_may_have_a_retry_schedule_of_its_own() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> {})) {
            Subscription usual = webhooks.subscribe("own", ALL);
            String policy = "{\"backoff\":\"fixed\",\"base\":\"2s\",\"jitter\":\"none\",\"maxAttempts\":3}";
            webhooks.webhooks
                    .subscriptions()
                    .change(
                            usual.id(),
                            before -> new Subscription(
                                    before.id(),
                                    before.tenant(),
                                    before.url(),
                                    before.description(),
                                    before.filter(),
                                    before.headers(),
                                    before.secrets(),
                                    before.disabled(),
                                    before.createdAt(),
                                    policy,
                                    null),
                            "change",
                            WebhookFixture.NOTE);
            for (int n = 0; n < 9; n++) {
                webhooks.replies.add(Stub.Reply.of(500));
            }
            webhooks.reprise.enqueue(WORK.job("x"));
            webhooks.worker.advance(Duration.ofSeconds(10));
            assertThat(webhooks.deliveries(JobState.FAILED))
                    .singleElement()
                    .satisfies(delivery -> assertThat(delivery.attempts()).isEqualTo(3));
        }
    }

    @Test
    void starts_and_progress_are_told_to_those_who_name_them() {
        try (WebhookFixture webhooks = new WebhookFixture((payload, job) -> job.progress(40, "half way"))) {
            webhooks.subscribe("steps", WebhookFixture.events(EventType.STARTED, EventType.PROGRESS));
            webhooks.subscribe("all", ALL);
            JobId id = webhooks.reprise.enqueue(WORK.job("x").retry(EXACT));
            webhooks.worker.runDue();
            webhooks.webhooks.steps().flush(webhooks.reprise);
            webhooks.worker.advance(SOON);
            assertThat(webhooks.told())
                    .containsExactlyInAnyOrder("job.started " + id, "job.progress " + id, "job.succeeded " + id);
            JsonNode progress = webhooks.bodies().stream()
                    .filter(body -> body.get("type").stringValue().equals("job.progress"))
                    .findFirst()
                    .orElseThrow()
                    .get("data");
            assertThat(progress.get("progress").get("percent").intValue()).isEqualTo(40);
            assertThat(progress.get("retryCount").intValue()).isZero();
            assertThat(progress.get("isRetryable").booleanValue()).isTrue();
        }
    }
}
