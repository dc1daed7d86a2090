// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.job.PayloadException;
import io.reprise.testkit.fuzz.Fuzz;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A payload is read or refused with a reason that does not quote it, whatever it is. */
class JacksonCodecFuzzTest {

    enum Kind {
        SALE,
        REFUND
    }

    record Order(
            long id,
            @Nullable String customer,
            @Nullable BigDecimal amount,
            @Nullable BigInteger units,
            @Nullable Instant at,
            @Nullable Duration patience,
            @Nullable Kind kind,
            @Nullable List<Order> parts,
            @Nullable Map<String, Object> extra) {}

    private static final String ORDER =
            "{\"id\":7,\"customer\":\"ada\",\"amount\":12.50,\"units\":3,\"at\":\"2026-01-01T00:00:00Z\","
                    + "\"patience\":\"PT5M\",\"kind\":\"SALE\",\"parts\":[{\"id\":8,\"parts\":[]}],\"extra\":{\"a\":[1,{\"b\":null}]}}";

    private final JacksonCodec codec = new JacksonCodec();

    @Test
    void a_payload_is_read_or_refused() {
        Fuzz.texts(20_000, List.of(ORDER, "{\"id\":1}", "\"text\"", "[1,2,3]"), text -> {
            for (Class<?> type : List.of(Order.class, String.class, Map.class, Duration.class)) {
                try {
                    codec.encode(codec.decode(text, type));
                } catch (PayloadException e) {
                    Fuzz.requireClear(e);
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e1000000000", "-1E+999999999"})
    void a_number_of_a_billion_digits_is_refused_or_stays_small(String bomb) {
        for (String field : List.of("amount", "units", "id", "patience", "at")) {
            try {
                String back = codec.encode(codec.decode("{\"id\":1,\"" + field + "\":" + bomb + "}", Order.class));
                assertThat(back).hasSizeLessThan(10_000);
            } catch (PayloadException e) {
                Fuzz.requireClear(e);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"[[", "{\"parts\":[{\"id\":1,"})
    void what_is_deeper_than_any_stack_is_refused(String level) {
        assertThatExceptionOfType(PayloadException.class)
                .isThrownBy(() -> codec.decode(level.repeat(200_000), Order.class));
    }
}
