// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.reprise.PayloadCodec;
import io.reprise.PayloadType;
import io.reprise.job.PayloadException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.DeserializationFeature;

class JacksonCodecTest {

    record Address(String street, int number) {}

    record Order(String id, List<Address> stops, Map<String, Integer> items, Optional<String> note) {}

    record Times(Instant at, LocalDate day, Duration lead, OffsetDateTime zoned) {}

    record Card(String number, int cents) {}

    enum Size {
        SMALL,
        LARGE
    }

    record Image(String path, Size size) {}

    /** Refers to itself, which no JSON can show. */
    static final class Loop {
        public Loop getSelf() {
            return this;
        }
    }

    private final PayloadCodec codec = new JacksonCodec();

    @Test
    void a_record_survives_the_round_trip() {
        Order order = new Order(
                "o-1", List.of(new Address("Main", 1), new Address("Side", 2)), Map.of("tea", 3), Optional.of("ring"));
        assertThat(codec.decode(codec.encode(order), Order.class)).isEqualTo(order);
    }

    @Test
    void times_survive_the_round_trip_and_are_written_as_text() {
        Times times = new Times(
                Instant.parse("2026-03-29T01:30:00.123456789Z"),
                LocalDate.of(2026, 2, 28),
                Duration.ofMillis(90_500),
                OffsetDateTime.parse("2026-03-29T03:30:00+02:00"));
        String json = codec.encode(times);
        assertThat(json)
                .isEqualTo("{\"at\":\"2026-03-29T01:30:00.123456789Z\",\"day\":\"2026-02-28\",\"lead\":\"PT1M30.5S\","
                        + "\"zoned\":\"2026-03-29T03:30:00+02:00\"}");
        assertThat(codec.decode(json, Times.class)).isEqualTo(times);
    }

    @Test
    void simple_values_need_no_record() {
        assertThat(codec.decode(codec.encode("plain \"text\""), String.class)).isEqualTo("plain \"text\"");
        assertThat(codec.decode(codec.encode(42), Integer.class)).isEqualTo(42);
    }

    @Test
    void a_property_of_a_newer_release_is_ignored() {
        assertThat(codec.decode("{\"path\":\"a.png\",\"quality\":90,\"size\":\"LARGE\"}", Image.class))
                .isEqualTo(new Image("a.png", Size.LARGE));
    }

    @Test
    void a_failure_names_type_and_position_but_not_the_payload() {
        String json = "{\n  \"number\": \"4111111111111111\",\n  \"cents\": \"secret-4111\"\n}";
        PayloadException refused = catchThrowableOfType(PayloadException.class, () -> codec.decode(json, Card.class));
        assertThat(refused).hasMessageContaining(Card.class.getName()).hasMessageContaining("cents");
        assertThat(refused).hasMessageContaining("line 3");
        assertThat(everythingOf(refused)).doesNotContain("4111");
    }

    @Test
    void broken_json_is_refused_without_being_quoted() {
        PayloadException refused =
                catchThrowableOfType(PayloadException.class, () -> codec.decode("{\"number\": hunter2}", Card.class));
        assertThat(refused).hasMessageContaining("line 1, column");
        assertThat(everythingOf(refused)).doesNotContain("hunter2");
    }

    @Test
    void text_after_the_value_is_refused() {
        assertThatThrownBy(() -> codec.decode("{} {}", Map.class)).isInstanceOf(PayloadException.class);
    }

    @Test
    void a_job_of_an_older_release_may_lack_a_property() {
        assertThat(codec.decode("{\"number\":\"1\"}", Card.class)).isEqualTo(new Card("1", 0));
    }

    @Test
    void null_is_no_number() {
        assertThatThrownBy(() -> codec.decode("{\"number\":\"1\",\"cents\":null}", Card.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("cents");
    }

    @Test
    void null_is_not_a_payload() {
        assertThatThrownBy(() -> codec.decode("null", Card.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("null");
    }

    @Test
    void what_cannot_be_written_is_refused() {
        assertThatThrownBy(() -> codec.encode(new Loop()))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining(Loop.class.getName());
    }

    @Test
    void a_type_name_inside_the_json_is_only_data() {
        String json = "{\"@class\":\"java.net.URL\",\"path\":\"a.png\",\"size\":\"SMALL\"}";
        assertThat(codec.decode(json, Image.class)).isEqualTo(new Image("a.png", Size.SMALL));
    }

    @Test
    void a_mapper_of_the_users_own_is_used() {
        PayloadCodec strict = new JacksonCodec(JacksonCodec.defaults()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build());
        assertThatThrownBy(() -> strict.decode("{\"path\":\"a\",\"size\":\"SMALL\",\"extra\":1}", Image.class))
                .isInstanceOf(PayloadException.class);
    }

    @Test
    void it_is_found_by_service_loader() {
        assertThat(ServiceLoader.load(PayloadCodec.class).findFirst()).get().isInstanceOf(JacksonCodec.class);
    }

    private static String everythingOf(Throwable throwable) {
        StringWriter all = new StringWriter();
        throwable.printStackTrace(new PrintWriter(all));
        return all.toString();
    }

    @Test
    void a_generic_payload_survives_the_round_trip() {
        List<Address> stops = List.of(new Address("Main", 1), new Address("High", 2));
        Object read = codec.decode(codec.encode(stops), new PayloadType<List<Address>>() {}.type());
        assertThat(read).isEqualTo(stops);
    }

    /** Its field is private, so nothing of it would be stored. */
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
        assertThat(new JacksonCodec().decode(stored, Renamed.class)).isEqualTo(new Renamed(null, 5));
        assertThatThrownBy(() -> JacksonCodec.strict().decode(stored, Renamed.class))
                .isInstanceOf(PayloadException.class);
    }

    @Test
    void a_stored_result_with_an_unknown_and_without_a_known_field_is_refused() {
        PayloadCodec usual = new JacksonCodec();
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
        assertThatThrownBy(() -> JacksonCodec.strict().decodeResult("{\"cents\":5}", Renamed.class))
                .isInstanceOf(PayloadException.class);
    }

    @Test
    void the_strict_codec_refuses_unknown_and_missing_fields_and_takes_null() {
        PayloadCodec strict = JacksonCodec.strict();
        assertThat(strict.decode("{\"iban\":null,\"cents\":5}", Renamed.class)).isEqualTo(new Renamed(null, 5));
        assertThatThrownBy(() -> strict.decode("{\"iban\":\"DE1\"}", Renamed.class))
                .isInstanceOf(PayloadException.class);
        assertThatThrownBy(() -> strict.decode("{\"iban\":\"DE1\",\"cents\":5,\"more\":1}", Renamed.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("at more");
    }
}
