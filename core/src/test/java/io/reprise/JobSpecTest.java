// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
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
}
