// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
