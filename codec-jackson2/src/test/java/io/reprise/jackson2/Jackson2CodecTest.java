// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.DeserializationFeature;
import io.reprise.PayloadCodec;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.PayloadException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class Jackson2CodecTest {

    record Line(String article, int count) {}

    record Basket(String id, List<Line> lines, Map<String, Integer> points, Optional<String> note) {}

    record Moment(OffsetDateTime zoned, Instant at, LocalDate day, Duration lead) {}

    record Secret(String number, int cents) {}

    /** A class of the old kind, whose order of fields is not alphabetical. */
    public static final class Bean {
        public String second = "2";
        public int first = 1;
    }

    private final PayloadCodec codec = new Jackson2Codec();
    private final PayloadCodec other = new JacksonCodec();

    @Test
    void it_writes_the_text_of_the_other_codec_and_reads_it() {
        List<Object> payloads = List.of(
                new Basket("b-1", List.of(new Line("tea", 1)), Map.of("gold", 3), Optional.of("ring")),
                new Basket("b-2", List.of(), Map.of(), Optional.empty()),
                new Moment(
                        OffsetDateTime.parse("2026-03-29T03:30:00+02:00"),
                        Instant.parse("2026-03-29T01:30:00.123456789Z"),
                        LocalDate.of(2026, 2, 28),
                        Duration.ofMillis(90_500)),
                "plain \"text\"",
                42);
        assertThat(payloads).allSatisfy(payload -> {
            assertThat(codec.encode(payload)).isEqualTo(other.encode(payload));
            assertThat((Object) codec.decode(other.encode(payload), payload.getClass()))
                    .isEqualTo(payload);
        });
        assertThat(codec.encode(new Bean())).isEqualTo(other.encode(new Bean()));
    }

    @Test
    void properties_of_other_releases_are_ignored_or_have_their_default() {
        assertThat(codec.decode("{\"number\":\"1\",\"more\":true}", Secret.class))
                .isEqualTo(new Secret("1", 0));
    }

    @Test
    void a_failure_names_type_and_place_but_not_the_payload() {
        PayloadException refused = catchThrowableOfType(
                PayloadException.class,
                () -> codec.decode("{\n\"number\":\"4111\",\n\"cents\":\"secret-4111\"}", Secret.class));
        assertThat(refused)
                .hasMessageContaining(Secret.class.getName())
                .hasMessageContaining("cents")
                .hasMessageContaining("line 3")
                .hasNoCause();
        assertThat(refused.getMessage()).doesNotContain("4111");
    }

    @Test
    void what_is_no_payload_is_refused() {
        assertThat(List.of("null", "{} {}", "{\"number\":\"1\",\"cents\":null}", "{\"number\": hunter2}"))
                .allSatisfy(json -> assertThatThrownBy(() -> codec.decode(json, Secret.class))
                        .isInstanceOf(PayloadException.class)
                        .message()
                        .doesNotContain("hunter2"));
    }

    @Test
    void a_mapper_of_the_users_own_is_used() {
        PayloadCodec strict = new Jackson2Codec(Jackson2Codec.defaults()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build());
        assertThatThrownBy(() -> strict.decode("{\"number\":\"1\",\"extra\":1}", Secret.class))
                .isInstanceOf(PayloadException.class);
    }

    @Test
    void a_service_loader_finds_it() {
        assertThat(ServiceLoader.load(PayloadCodec.class)).anyMatch(Jackson2Codec.class::isInstance);
    }

    private static final class Hidden {
        @SuppressWarnings("unused")
        private final int secret = 1;
    }

    record Nothing() {}

    @Test
    void a_class_without_visible_properties_is_refused_and_an_empty_record_is_not() {
        assertThatThrownBy(() -> codec.encode(new Hidden()))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("no visible properties");
        assertThat(codec.decode(codec.encode(new Nothing()), Nothing.class)).isEqualTo(new Nothing());
    }

    @Test
    void a_lambda_is_refused() {
        Runnable lambda = () -> {};
        assertThatThrownBy(() -> codec.encode(lambda))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("lambda");
    }

    record Renamed(String iban, int cents) {}

    @Test
    void a_renamed_field_is_refused_by_the_strict_codec_and_read_as_null_by_the_usual_one() {
        String stored = "{\"account\":\"DE1\",\"cents\":5}";
        assertThat(new Jackson2Codec().decode(stored, Renamed.class)).isEqualTo(new Renamed(null, 5));
        assertThatThrownBy(() -> Jackson2Codec.strict().decode(stored, Renamed.class))
                .isInstanceOf(PayloadException.class);
    }

    @Test
    void a_stored_result_with_an_unknown_and_without_a_known_field_is_refused() {
        PayloadCodec usual = new Jackson2Codec();
        String renamed = "{\"account\":\"DE1\",\"cents\":5}";
        assertThatThrownBy(() -> usual.decodeResult(renamed, Renamed.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("which has no account")
                .hasMessageContaining("iban");
        assertThatThrownBy(() -> usual.decodeResult("{\"x\":1}", Renamed.class)).isInstanceOf(PayloadException.class);
        assertThatThrownBy(() -> usual.decodeResult("7", Renamed.class)).isInstanceOf(PayloadException.class);
        // One release has a field more than the other.
        assertThat(usual.decodeResult("{\"cents\":5}", Renamed.class)).isEqualTo(new Renamed(null, 5));
        assertThat(usual.decodeResult("{\"iban\":\"DE1\",\"cents\":5,\"more\":1}", Renamed.class))
                .isEqualTo(new Renamed("DE1", 5));
        assertThatThrownBy(() -> Jackson2Codec.strict().decodeResult("{\"cents\":5}", Renamed.class))
                .isInstanceOf(PayloadException.class);
    }

    @Test
    void the_strict_codec_refuses_unknown_and_missing_fields_and_takes_null() {
        PayloadCodec strict = Jackson2Codec.strict();
        assertThat(strict.decode("{\"iban\":null,\"cents\":5}", Renamed.class)).isEqualTo(new Renamed(null, 5));
        assertThatThrownBy(() -> strict.decode("{\"iban\":\"DE1\"}", Renamed.class))
                .isInstanceOf(PayloadException.class);
        assertThatThrownBy(() -> strict.decode("{\"iban\":\"DE1\",\"cents\":5,\"more\":1}", Renamed.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("at more");
    }
}
