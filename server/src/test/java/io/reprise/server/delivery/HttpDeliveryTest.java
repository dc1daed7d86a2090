// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.reprise.Reprise;
import io.reprise.failure.Failure;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.delivery.Stub.Reply;
import io.reprise.server.delivery.Stub.Seen;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The real engine in virtual time, calling a real socket. */
class HttpDeliveryTest {

    private static final RetryPolicy EXACT =
            RetryPolicy.exponential(Duration.ofSeconds(1)).jitter(Jitter.none()).maxAttempts(3);
    private static final SigningSecret SECRET = SigningSecret.random(new SecureRandom());

    private final ManualClock clock = new ManualClock();
    private final Queue<Reply> replies = new ArrayDeque<>();
    private final Stub stub = new Stub(this::reply);
    private final OutboundGuard guard = new OutboundGuard(
            List.of("127.0.0.1", "hooks.example.org"),
            Set.of(),
            host -> List.of(AddressRange.literal(host.equals("hooks.example.org") ? "127.0.0.1" : host)));
    private final OutboundClient client = new OutboundClient(guard);
    private final InlineWorker worker = InlineWorker.start(
            Reprise.builder()
                    .store(new InMemoryJobStore(clock))
                    .codec(new JacksonCodec())
                    .handle(
                            HttpDelivery.TYPE,
                            Blocking.of(new HttpDelivery(
                                    client,
                                    guard,
                                    List.of(SECRET),
                                    new JacksonCodec(),
                                    InstantSource.system(),
                                    new CallShares(20)))),
            clock);
    private Function<Seen, @Nullable Reply> special = seen -> null;

    private synchronized Reply reply(Seen seen) {
        Reply chosen = special.apply(seen);
        Reply next = chosen == null ? replies.poll() : chosen;
        return next == null ? Reply.of(200) : next;
    }

    @AfterEach
    void close() {
        worker.close();
        client.close();
        stub.close();
    }

    private static HttpCall call(String method, String url) {
        return new HttpCall(method, url, null, null, null, null);
    }

    private JobId send(HttpCall call) {
        JobId id = worker.reprise().enqueue(HttpDelivery.TYPE.job(call).retry(EXACT));
        worker.runDue();
        return id;
    }

    private Job job(JobId id) {
        return worker.reprise().find(id).orElseThrow();
    }

    private Failure failure(JobId id) {
        List<Attempt> attempts = worker.reprise().attempts(id);
        return java.util.Objects.requireNonNull(
                attempts.get(attempts.size() - 1).failure());
    }

    @Test
    void a_call_that_is_answered_with_2xx_succeeds_and_keeps_the_answer() {
        replies.add(new Reply(201, Map.of("Content-Type", "application/json"), "{\"id\":7}"));
        JobId id = send(
                new HttpCall(null, stub.url("/orders?x=1"), Map.of("X-Tenant", "a"), Map.of("amount", 12), null, null));
        assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
        JsonNode result = java.util.Objects.requireNonNull(
                worker.reprise().await(id, Duration.ofSeconds(1)).result(JsonNode.class));
        assertThat(result.get("status").intValue()).isEqualTo(201);
        assertThat(result.get("body").stringValue()).isEqualTo("{\"id\":7}");
        Seen seen = stub.seen.get(0);
        assertThat(seen.method()).isEqualTo("POST");
        assertThat(seen.path()).isEqualTo("/orders?x=1");
        assertThat(seen.body()).isEqualTo("{\"amount\":12}");
        assertThat(seen.header("content-type")).isEqualTo("application/json");
        assertThat(seen.header("x-tenant")).isEqualTo("a");
    }

    @Test
    void the_receiver_learns_job_attempt_and_a_token_that_grows() {
        replies.addAll(List.of(Reply.of(503), Reply.of(500), Reply.of(200)));
        JobId id = send(call("POST", stub.url("/")));
        worker.advance(Duration.ofMinutes(1));
        assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(stub.seen)
                .extracting(seen -> seen.header("reprise-job-id"))
                .containsExactly(id.toString(), id.toString(), id.toString());
        assertThat(stub.seen).extracting(seen -> seen.header("reprise-attempt")).containsExactly("1", "2", "3");
        assertThat(stub.seen.stream()
                        .map(seen -> Long.parseLong(String.valueOf(seen.header("reprise-token"))))
                        .collect(Collectors.toList()))
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    void it_is_signed() throws Exception {
        send(new HttpCall("POST", stub.url("/"), null, "text as it is", null, null));
        Seen seen = stub.seen.get(0);
        new Webhook(SECRET.reveal())
                .verify(
                        seen.body(),
                        seen.headers().entrySet().stream()
                                .collect(Collectors.toMap(Map.Entry::getKey, each -> List.of(each.getValue()))));
        assertThat(seen.body()).isEqualTo("text as it is");
        assertThat(seen.header("content-type")).startsWith("text/plain");
    }

    @ParameterizedTest
    @CsvSource({
        "400, PERMANENT",
        "401, PERMANENT",
        "404, PERMANENT",
        "409, PERMANENT",
        "410, PERMANENT",
        "422, PERMANENT",
        "301, PERMANENT",
        "303, PERMANENT"
    })
    void statuses_that_no_retry_cures_fail_the_job_at_once(int status, FailReason reason) {
        replies.add(Reply.of(status).header("Location", "/elsewhere"));
        JobId id = send(call("POST", stub.url("/")));
        assertThat(job(id).failReason()).isEqualTo(reason);
        assertThat(failure(id).httpStatus()).isEqualTo(status);
        assertThat(stub.seen).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504, 599})
    void statuses_of_trouble_are_tried_again(int status) {
        replies.add(Reply.of(status).body("  down\nfor \"maintenance\" "));
        JobId id = send(call("POST", stub.url("/")));
        assertThat(job(id).state()).isEqualTo(JobState.PENDING);
        assertThat(failure(id).trace())
                .as("where in this program is nobody's business")
                .doesNotContain("\tat ");
        assertThat(failure(id).message()).isEqualTo("HTTP " + status + " from 127.0.0.1: \"down for maintenance\"");
        worker.advance(Duration.ofMinutes(1));
        assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void errors_are_grouped_by_status_whatever_the_other_side_writes() {
        replies.addAll(List.of(
                Reply.of(400).body("order 1 of ada is bad"), Reply.of(400).body("no such thing")));
        JobId first = send(call("POST", stub.url("/")));
        JobId second = send(call("POST", stub.url("/")));
        assertThat(failure(first).fingerprint()).isEqualTo(failure(second).fingerprint());
    }

    @Test
    void retry_after_is_honoured_in_seconds_and_as_a_date() {
        replies.add(Reply.of(503).header("Retry-After", "120"));
        JobId id = send(call("POST", stub.url("/")));
        assertThat(failure(id).retryAfter()).isEqualTo(Duration.ofMinutes(2));
        assertThat(job(id).times().dueAt()).isAfterOrEqualTo(clock.instant().plusSeconds(120));
        String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(
                InstantSource.system().instant().plusSeconds(3_600).atOffset(ZoneOffset.UTC));
        replies.add(Reply.of(429).header("Retry-After", date));
        assertThat(failure(send(call("POST", stub.url("/")))).retryAfter())
                .isBetween(Duration.ofMinutes(50), Duration.ofMinutes(60));
        replies.add(Reply.of(429).header("Retry-After", "soon"));
        assertThat(failure(send(call("POST", stub.url("/")))).retryAfter()).isNull();
    }

    @Test
    void redirects_are_followed_with_method_and_body_where_that_is_safe() {
        special = seen -> seen.path().equals("/old") ? Reply.of(308).header("Location", "/new") : null;
        JobId id = send(new HttpCall("POST", stub.url("/old"), Map.of("X-Key", "k"), "body", null, null));
        assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
        Seen last = stub.seen.get(1);
        assertThat(last.path()).isEqualTo("/new");
        assertThat(last.method()).isEqualTo("POST");
        assertThat(last.body()).isEqualTo("body");
        assertThat(last.header("x-key")).isEqualTo("k");
    }

    @Test
    void another_origin_does_not_see_what_was_meant_for_the_first() {
        special = seen -> seen.path().equals("/old")
                ? Reply.of(307).header("Location", "http://hooks.example.org:" + stub.port() + "/new")
                : null;
        send(new HttpCall("POST", stub.url("/old"), Map.of("Authorization", "Bearer s3cret"), "body", null, null));
        assertThat(stub.seen.get(0).header("authorization")).isEqualTo("Bearer s3cret");
        assertThat(stub.seen.get(0).header("webhook-signature")).isNotNull();
        Seen last = stub.seen.get(1);
        assertThat(last.header("authorization")).isNull();
        assertThat(last.header("webhook-signature")).isNull();
        assertThat(last.header("reprise-job-id")).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.2/",
                "http://169.254.169.254/latest/",
                "http://[::1]/",
                "file:///etc/passwd",
                "//10.0.0.1/",
                "http://2130706433/"
            })
    void a_redirect_to_where_nobody_may_go_is_refused(String location) {
        special = seen -> Reply.of(302).header("Location", location);
        JobId id = send(call("GET", stub.url("/")));
        assertThat(job(id).failReason()).isEqualTo(FailReason.PERMANENT);
        assertThat(stub.seen).hasSize(1);
    }

    @Test
    void redirects_come_to_an_end() {
        special = seen -> Reply.of(302).header("Location", seen.path() + "x");
        JobId id = send(call("GET", stub.url("/")));
        assertThat(job(id).failReason()).isEqualTo(FailReason.PERMANENT);
        assertThat(stub.seen).hasSize(6);
        special = seen -> Reply.of(302).header("Location", "/next");
        assertThat(job(send(new HttpCall("GET", stub.url("/"), null, null, null, false)))
                        .failReason())
                .isEqualTo(FailReason.PERMANENT);
        assertThat(stub.seen).hasSize(7);
    }

    @Test
    void what_the_guard_refuses_is_permanent_and_says_so() {
        JobId id = send(call("GET", "http://127.0.0.9/"));
        assertThat(job(id).failReason()).isEqualTo(FailReason.PERMANENT);
        assertThat(failure(id).message()).contains("127.0.0.9").contains("loopback");
    }

    @Test
    void a_call_that_cannot_be_made_is_permanent() {
        for (HttpCall bad : List.of(
                new HttpCall("TRACE", stub.url("/"), null, null, null, null),
                new HttpCall("GET", stub.url("/"), null, "body", null, null),
                new HttpCall("GET", null, null, null, null, null),
                new HttpCall("GET", stub.url("/"), Map.of("Host", "evil"), null, null, null),
                new HttpCall("GET", stub.url("/"), Map.of("Reprise-Token", "1"), null, null, null),
                new HttpCall("GET", stub.url("/"), Map.of("X", "a\r\nHost: evil"), null, null, null),
                new HttpCall("GET", stub.url("/"), Map.of("X Y", "a"), null, null, null),
                new HttpCall("GET", stub.url("/"), null, null, "soon", null),
                new HttpCall("GET", stub.url("/"), null, null, "0s", null))) {
            assertThat(job(send(bad)).failReason()).isEqualTo(FailReason.PERMANENT);
        }
        assertThat(stub.seen).isEmpty();
    }

    @Test
    void nobody_there_is_tried_again() {
        stub.close();
        JobId id = send(call("POST", stub.url("/")));
        assertThat(job(id).state()).isEqualTo(JobState.PENDING);
        assertThat(worker.reprise().attempts(id).get(0).decision())
                .extracting(Decision::rule)
                .isEqualTo("unreachable");
    }
}
