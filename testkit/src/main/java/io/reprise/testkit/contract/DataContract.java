// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.insight.LogLine;
import io.reprise.insight.StoredBytes;
import io.reprise.job.Attempt;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.job.Progress;
import io.reprise.job.WaitReason;
import io.reprise.retry.Backoff;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.LogPart;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** All data comes back from the store unchanged. */
public interface DataContract extends StoreFixture {

    /**
     * Two-, three- and four-byte characters, quotes, line ends, backslashes, and texts that might break SQL or JSON.
     */
    String AWKWARD = "ä ß 漢字 \u200f עברית 👩‍🚀 '\"`\\ \r\n\t %_;-- ${x} {{y}} ? :z \u0001 \uffff";

    @Test
    default void a_spec_comes_back_as_it_was_given() {
        JobSpec spec = TestJobs.spec("Type_1.a:b/c@d-e")
                .payload("{\"text\":\"" + AWKWARD + "\"}")
                .queue("q".repeat(100))
                .priority(-9)
                .policy(policy())
                .resource("r".repeat(100))
                .group("g".repeat(100))
                .tags(tags())
                .key("k".repeat(250), KeyRule.REPLACE)
                .idempotencyKey("i".repeat(250))
                .timeout(Duration.ofMillis(1_234))
                .schedule("s".repeat(100))
                .chain("{\"text\":\"" + AWKWARD + "\"}")
                .build();
        JobId id = add(List.of(spec)).get(0);
        assertSame(read(id).spec(), spec);
        Claim claim = claimOne(TestClaims.upTo(1).from(spec.queue()));
        assertSame(only(claim).spec(), spec);
        succeed(claim);
        assertSame(read(id).spec(), spec);
    }

    @Test
    default void a_spec_without_options_comes_back_without_them() {
        JobSpec spec = TestJobs.spec("plain").build();
        assertSame(read(add(List.of(spec)).get(0)).spec(), spec);
    }

    @Test
    default void keys_may_be_any_text() {
        String key = AWKWARD.replace("\u0001", "");
        JobId id = add(TestJobs.spec("work").key(key, KeyRule.KEEP).idempotencyKey(key));
        assertThat(read(id).spec().key()).isEqualTo(key);
        assertThat(read(id).spec().idempotencyKey()).isEqualTo(key);
        assertThat(insert(TestJobs.spec("work").key(key, KeyRule.KEEP)).id()).isEqualTo(id);
        assertThat(insert(TestJobs.spec("work").idempotencyKey(key)).id()).isEqualTo(id);
        assertThat(insert(TestJobs.spec("work").key("👩‍🚀".repeat(50), KeyRule.KEEP))
                        .created())
                .isTrue();
    }

    @Test
    default void the_largest_payload_and_a_large_result_fit() {
        String payload = "\"" + "🚀".repeat((JobSpec.MAX_PAYLOAD_BYTES - 2) / 4) + "\"";
        String result = "\"" + "é".repeat(100_000) + "\"";
        JobId id = add(TestJobs.spec("large").payload(payload));
        Claim claim = claimOne();
        assertThat(only(claim).spec().payload()).isEqualTo(payload);
        settle(TestSettlements.success(claim, only(claim), result));
        assertThat(read(id).spec().payload()).isEqualTo(payload);
        assertThat(read(id).status().result()).isEqualTo(result);
    }

    @Test
    default void an_escaped_nul_in_json_is_only_text() {
        String json = "{\"nul\":\"\\u0000\"}";
        JobId id = add(TestJobs.spec("nul").payload(json));
        Claim claim = claimOne();
        settle(TestSettlements.success(claim, only(claim), json));
        assertThat(read(id).spec().payload()).isEqualTo(json);
        assertThat(read(id).status().result()).isEqualTo(json);
    }

    @Test
    default void a_raw_nul_in_what_a_handler_says_stops_nothing() {
        JobId id = add(TestJobs.spec("nul"));
        Claim claim = claimOne();
        assertThat(store().progress(id, claim.token(), new Progress(1, "a\u0000b")))
                .isTrue();
        Failure failure = Failure.reported("a.\u0000Type", "\u0000", 500, "a\u0000b", null)
                .withTrace("t\u0000t");
        assertThat(settle(TestSettlements.fail(claim, only(claim), failure)).stale())
                .isEmpty();
        assertThat(store().discard(id, new AuditNote("ada", "a\u0000b"))).isTrue();
    }

    @Test
    default void half_a_surrogate_pair_stops_nothing() {
        JobId id = add(TestJobs.spec("half"));
        Claim claim = claimOne();
        String cut = "x".repeat(499) + "🚀";
        assertThat(store().progress(id, claim.token(), new Progress(1, cut))).isTrue();
        Failure failure = Failure.of(FailureClass.TRANSIENT, "a.Type", "half \ud83d");
        assertThat(settle(TestSettlements.fail(claim, only(claim), failure)).stale())
                .isEmpty();
        assertThat(store().discard(id, new AuditNote("ada", cut))).isTrue();
    }

    @Test
    default void an_oversized_exception_stops_nothing() {
        JobId id = add(TestJobs.spec("loud"));
        Claim claim = claimOne();
        RuntimeException loud = new RuntimeException("🚀".repeat(500_000), new RuntimeException("x".repeat(500_000)));
        assertThat(settle(TestSettlements.fail(claim, only(claim), Failure.of(loud)))
                        .stale())
                .isEmpty();
        Attempt attempt = store().attempts(id).get(0);
        assertThat(attempt.failure()).isNotNull().satisfies(failure -> {
            assertThat(failure.message()).startsWith("🚀🚀").hasSizeLessThanOrEqualTo(2_000);
            assertThat(failure.trace()).hasSizeLessThanOrEqualTo(16_000);
            assertThat(failure.fingerprint()).isEqualTo(Failure.of(loud).fingerprint());
        });
    }

    @Test
    default void a_failure_and_its_decision_come_back_in_history() {
        Failure failure = Failure.reported("a.Type", "E42", 429, AWKWARD, Duration.ofMillis(1_500))
                .withGiven(FailureClass.THROTTLED)
                .withTrace("at a.Type\n\tat b.Type " + AWKWARD);
        Decision decision = new Decision.Retry(
                Duration.ofSeconds(1), Duration.ofSeconds(2, 345_678_000), FailureClass.THROTTLED, "rule " + AWKWARD);
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne(TestClaims.upTo(1).by("worker-7"));
        Settlement.Wait next = new Settlement.Wait(WaitReason.RETRY, Duration.ofHours(1), Duration.ofHours(1));
        Settled settled = settle(
                new Settlement(id, claim.token(), CountedAs.ATTEMPT, Duration.ofMillis(700), next, failure, decision));
        Attempt attempt = store().attempts(id).get(0);
        assertThat(attempt.number()).isEqualTo(1);
        assertThat(attempt.token()).isEqualTo(claim.token());
        assertThat(attempt.worker()).isEqualTo("worker-7");
        assertThat(attempt.ending()).isEqualTo(Attempt.Ending.FAILED);
        assertThat(attempt.endedAt()).isEqualTo(settled.at());
        assertThat(attempt.startedAt()).isEqualTo(settled.at().minusMillis(700));
        assertThat(attempt.decision()).isEqualTo(decision);
        assertSame(attempt.failure(), failure);
        assertThat(read(id).status().lastError()).isNotNull().satisfies(error -> {
            assertThat(error.type()).isEqualTo(failure.type());
            assertThat(error.message()).isEqualTo(AWKWARD);
            assertThat(error.fingerprint()).isEqualTo(failure.fingerprint());
        });
    }

    @Test
    default void every_kind_of_decision_comes_back() {
        for (Decision decision : List.of(
                new Decision.Retry(Duration.ZERO, Duration.ofDays(2), FailureClass.DEPENDENCY_DOWN, "status 503"),
                new Decision.Fail(FailReason.QUARANTINED, FailureClass.LOST, "lost", false),
                new Decision.Fail(FailReason.PERMANENT, FailureClass.PERMANENT, "never", true),
                new Decision.Snooze(Duration.ofSeconds(9)),
                new Decision.Release(Duration.ofMillis(1), FailureClass.INTERRUPTED, "shutdown"))) {
            JobId id = add(TestJobs.spec("work"));
            Claim claim = claimOne();
            Settlement.Next next = new Settlement.Fail(FailReason.HOPELESS);
            settle(new Settlement(id, claim.token(), CountedAs.ATTEMPT, Duration.ZERO, next, null, decision));
            assertThat(store().attempts(id).get(0).decision()).isEqualTo(decision);
            assertThat(read(id).failReason()).isEqualTo(FailReason.HOPELESS);
        }
    }

    @Test
    default void a_success_is_in_history_too() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne(TestClaims.upTo(1).by("worker-7"));
        Settled settled = settle(TestSettlements.success(claim, only(claim)));
        assertThat(store().attempts(id))
                .containsExactly(new Attempt(
                        1,
                        claim.token(),
                        "worker-7",
                        settled.at().minus(TestSettlements.RAN),
                        settled.at(),
                        Attempt.Ending.SUCCEEDED,
                        null,
                        null));
    }

    @Test
    default void times_are_kept_to_the_microsecond() {
        Instant due = Instant.parse("2040-05-06T07:08:09.123456789Z");
        JobId id =
                add(TestJobs.spec("later").dueAt(due).policy(RetryPolicy.unset().deadline(Duration.ofMillis(1))));
        Instant kept = due.truncatedTo(ChronoUnit.MICROS);
        assertThat(read(id).times().dueAt()).isEqualTo(kept);
        assertThat(read(id).times().firstDueAt()).isEqualTo(kept);
        assertThat(read(id).times().deadline()).isEqualTo(kept.plusMillis(1));
    }

    @Test
    default void the_longest_delay_and_deadline_overflow_nothing() {
        RetryPolicy policy = RetryPolicy.unset().deadline(JobSpec.MAX_DELAY);
        Job job = read(add(TestJobs.spec("late").delay(JobSpec.MAX_DELAY).policy(policy)));
        Instant due = job.times().createdAt().plus(JobSpec.MAX_DELAY);
        assertThat(job.times().dueAt()).isEqualTo(due);
        assertThat(job.times().deadline()).isEqualTo(due.plus(JobSpec.MAX_DELAY));
    }

    @Test
    default void the_first_and_the_last_due_time_overflow_nothing_with_a_deadline() {
        RetryPolicy policy = RetryPolicy.unset().deadline(JobSpec.MAX_DELAY);
        Job late = read(add(TestJobs.spec("late").dueAt(JobSpec.MAX_DUE).policy(policy)));
        assertThat(late.times().dueAt()).isEqualTo(JobSpec.MAX_DUE);
        assertThat(late.times().deadline()).isEqualTo(JobSpec.MAX_DUE.plus(JobSpec.MAX_DELAY));
        Job now = read(add(TestJobs.spec("now").dueAt(Instant.MIN).policy(policy)));
        assertThat(now.times().dueAt()).isEqualTo(now.times().createdAt());
    }

    @Test
    default void notes_come_back_as_written() {
        AuditNote note = new AuditNote(AWKWARD.replace("\u0001", ""), "🚀".repeat(250));
        store().cancel(add(TestJobs.spec("work")), note);
        store().pause("default", note);
        assertThat(store().audit(null, 10)).extracting(AuditEntry::note).containsExactly(note, note);
        assertThat(queue("default").paused())
                .isNotNull()
                .satisfies(pause -> assertThat(pause.note()).isEqualTo(note));
    }

    private static RetryPolicy policy() {
        return RetryPolicy.unset()
                .backoff(new Backoff.Exponential(Duration.ofMillis(1_500), 1.75, 1))
                .cap(Duration.ofMinutes(5))
                .minDelay(Duration.ofMillis(10))
                .jitter(new Jitter.Proportional(0.35))
                .unlimited()
                .deadline(Duration.ofDays(3))
                .retryAfterCap(Duration.ofHours(2))
                .retryTimeouts(false)
                .losses(new LossRule(true, false, 3))
                .unclassified(FailureClass.PERMANENT)
                .rule(Rule.of(
                        "all of it " + "ä'\"\\",
                        FailureClass.THROTTLED,
                        List.of("a.b.C"),
                        List.of("E'42"),
                        List.of(429, 503),
                        List.of("too (many|much) \"requests\"\\s+👩‍🚀")))
                .neverRetryOn("a.b.Fatal")
                .onlyTheseRules();
    }

    private static Set<String> tags() {
        return IntStream.range(0, JobSpec.MAX_TAGS)
                .mapToObj(i -> i + "t".repeat(99))
                .collect(Collectors.toSet());
    }

    /** Delay, due time and key rule matter only at insert. */
    private static void assertSame(JobSpec actual, JobSpec expected) {
        Duration none = Duration.ZERO;
        assertThat(actual.toBuilder()
                        .delay(none)
                        .key(actual.key(), KeyRule.KEEP)
                        .build())
                .isEqualTo(expected.toBuilder()
                        .delay(none)
                        .key(expected.key(), KeyRule.KEEP)
                        .build());
        assertThat(actual.payload()).isEqualTo(expected.payload());
        assertThat(actual.policy().toJson()).isEqualTo(expected.policy().toJson());
    }

    /** The cause chain serves classification and need not be kept. */
    private static void assertSame(@Nullable Failure actual, Failure expected) {
        assertThat(actual).isNotNull().satisfies(failure -> {
            assertThat(failure.type()).isEqualTo(expected.type());
            assertThat(failure.code()).isEqualTo(expected.code());
            assertThat(failure.httpStatus()).isEqualTo(expected.httpStatus());
            assertThat(failure.message()).isEqualTo(expected.message());
            assertThat(failure.trace()).isEqualTo(expected.trace());
            assertThat(failure.fingerprint()).isEqualTo(expected.fingerprint());
            assertThat(failure.retryAfter()).isEqualTo(expected.retryAfter());
            assertThat(failure.given()).isEqualTo(expected.given());
        });
    }

    @Test
    default void the_bytes_of_payloads_and_results_add_up_by_queue() {
        add(TestJobs.on("a").payload("\"" + "ü".repeat(10) + "\""));
        add(TestJobs.on("a").payload("1"));
        add(TestJobs.on("b").payload("12345"));
        Claim claim = claimOne(TestClaims.upTo(1).from("b"));
        settle(TestSettlements.success(claim, only(claim), "\"1234567\""));
        assertThat(bytes(1)).isEqualTo(Map.of("a", 23L, "b", 14L));
        StoredBytes first = store().bytes(null, 1);
        assertThat(first.next()).isNotNull();
        assertThat(first.byQueue()).as("one job at most").isNotEqualTo(Map.of("a", 23L, "b", 14L));
        assertThat(bytes(100)).isEqualTo(Map.of("a", 23L, "b", 14L));
    }

    @Test
    default void the_bytes_of_dead_letters_count_until_they_are_discarded() {
        JobId dead = deadLetter(TestJobs.on("a").payload("\"dead\""));
        assertThat(bytes(1)).isEqualTo(Map.of("a", 6L));
        store().discard(dead, NOTE);
        assertThat(bytes(1)).isEmpty();
    }

    @Test
    default void the_bytes_of_steps_count_while_their_job_is_there() {
        for (String queue : List.of("a", "b")) {
            add(TestJobs.on(queue).payload("1"));
            Claim claim = claimOne(TestClaims.upTo(1).from(queue));
            for (String step : List.of("one", "two", "three")) {
                String value = step.equals("three") ? null : "\"" + "\u00fc".repeat(10) + "\"";
                StepWrite done = StepWrite.done(step, value == null ? null : "java.lang.String", value);
                store().checkpoint(List.of(new Checkpoint(only(claim).id(), claim.token(), done)));
            }
            if (queue.equals("b")) {
                settle(TestSettlements.fail(claim, only(claim)));
            }
        }
        assertThat(bytes(1)).isEqualTo(Map.of("a", 45L, "b", 45L));
        assertThat(bytes(100)).isEqualTo(Map.of("a", 45L, "b", 45L));
    }

    @Test
    default void the_bytes_of_log_lines_count_while_their_job_is_there() {
        JobId dead = null;
        for (String queue : List.of("a", "b")) {
            JobId job = add(TestJobs.on(queue).payload("1"));
            Claim claim = claimOne(TestClaims.upTo(1).from(queue));
            for (int number = 0; number < 3; number++) {
                LogLine line = new LogLine(claim.token(), Instant.EPOCH, "\u00fc".repeat(10));
                store().writeLog(List.of(new LogPart(job, claim.token(), number, List.of(line, line))));
            }
            if (queue.equals("b")) {
                settle(TestSettlements.fail(claim, only(claim)));
                dead = job;
            }
        }
        // Each line is behind its time, which is 0 here, and a blank, and ends with a line break.
        long expected = 1 + 3 * 2 * (1 + 1 + 20 + 1);
        assertThat(bytes(1)).isEqualTo(Map.of("a", expected, "b", expected));
        assertThat(bytes(100)).isEqualTo(Map.of("a", expected, "b", expected));
        store().discard(Objects.requireNonNull(dead), NOTE);
        assertThat(bytes(1)).isEqualTo(Map.of("a", expected));
    }

    /** Reads the sizes in parts of this many jobs. */
    private Map<String, Long> bytes(int rows) {
        Map<String, Long> all = new HashMap<>();
        String cursor = null;
        do {
            StoredBytes part = store().bytes(cursor, rows);
            part.byQueue().forEach((queue, bytes) -> all.merge(queue, bytes, Long::sum));
            cursor = part.next();
        } while (cursor != null);
        return all;
    }
}
