// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.JobType;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class JobSpecTest {

    @Test
    void a_timeout_of_any_length_is_taken_or_refused_in_words() {
        JobSpec.Builder spec = JobSpec.builder("work", "{}").timeout(Duration.ofMillis(1));
        for (Duration wrong : List.of(
                Duration.ZERO, Duration.ofNanos(999_999), Duration.ofMillis(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> spec.timeout(wrong))
                    .withMessageContaining("timeout");
        }
    }

    @Test
    void a_name_with_characters_that_cannot_be_seen_is_refused_with_their_numbers() {
        JobSpec.Builder spec = JobSpec.builder("work", "{}");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> spec.group("a\u0007b\n\u202E"))
                .withMessageStartingWith("group 'a\\u0007b\\u000a\\u202e' is not a name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> spec.needs(List.of("gpu\u001B[2J")))
                .withMessageStartingWith("label 'gpu\\u001b[2J' is not");
    }

    @Test
    void half_of_a_surrogate_pair_is_refused_in_every_key_and_name() {
        JobSpec.Builder spec = JobSpec.builder("work", "{}");
        for (String half : List.of("a\ud83d", "\ude80a", "\ud83d\ud83d\ude80", "\ude80\ud83d")) {
            refused("idempotencyKey", () -> spec.idempotencyKey(half));
            refused("idempotencyProof", () -> spec.idempotencyKey("a", half));
            refused("key", () -> spec.key(half, KeyRule.KEEP));
            refused("queue", () -> spec.queue(half));
            refused("group", () -> spec.group(half));
            refused("resource", () -> spec.resource(half));
            refused("schedule", () -> spec.schedule(half));
            refused("tag", () -> spec.tags(Set.of(half)));
            refused("type", () -> JobSpec.builder(half, "{}"));
            refused(
                    "idempotencyKey",
                    () -> JobType.of("work", String.class).job("").idempotencyKey(half.repeat(50)));
        }
        assertThatCode(() -> spec.idempotencyKey("\ud83d\ude80").key("a\ud83d\ude80\ud83d\ude80", KeyRule.KEEP))
                .doesNotThrowAnyException();
    }

    private static void refused(String field, ThrowingCallable call) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessageStartingWith(field + " ");
    }

    @Test
    void a_due_time_that_leaves_no_room_for_a_deadline_is_refused_in_words() {
        JobSpec.Builder spec = JobSpec.builder("work", "{}").dueAt(JobSpec.MAX_DUE);
        for (Instant wrong : List.of(Instant.MAX, JobSpec.MAX_DUE.plusNanos(1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> spec.dueAt(wrong))
                    .withMessageContaining("dueAt must be at most 9899");
        }
    }

    @Test
    void a_due_time_at_either_end_is_stored_even_with_a_deadline() {
        InMemoryJobStore store = new InMemoryJobStore();
        for (Instant due : List.of(Instant.MIN, JobSpec.MAX_DUE)) {
            JobSpec spec = JobSpec.builder("work", "{}")
                    .dueAt(due)
                    .policy(RetryPolicy.unset().deadline(Duration.ofDays(36_500)))
                    .build();
            assertThatCode(() -> store.insert(List.of(spec))).doesNotThrowAnyException();
        }
    }
}
