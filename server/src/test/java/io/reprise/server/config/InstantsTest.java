// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class InstantsTest {

    @Test
    void times_are_written_as_the_platform_writes_them() {
        for (String text : List.of(
                "1970-01-01T00:00:00Z",
                "1969-12-31T23:59:59.999999999Z",
                "0000-01-01T00:00:00.001Z",
                "-0001-12-31T23:59:59.500Z",
                "9999-12-31T23:59:59.999999Z",
                "+10000-01-01T00:00:00Z",
                "2024-02-29T12:34:56.000001Z")) {
            assertThat(Instants.text(Instant.parse(text))).isEqualTo(text);
        }
    }

    @Test
    void any_time_is_written_as_the_platform_writes_it() {
        Random random = new Random(1);
        int[] units = {1, 1_000, 1_000_000, 1_000_000_000};
        for (int i = 0; i < 20_000; i++) {
            int unit = units[random.nextInt(units.length)];
            long second = random.nextLong(-70_000_000_000L, 260_000_000_000L);
            Instant time = Instant.ofEpochSecond(second, random.nextInt(1_000_000_000) / unit * (long) unit);
            assertThat(Instants.text(time)).isEqualTo(time.toString());
        }
    }
}
