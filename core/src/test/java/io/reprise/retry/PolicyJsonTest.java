// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyJsonTest {

    @Test
    void a_policy_is_written_in_a_fixed_order() {
        RetryPolicy policy = RetryPolicy.unset()
                .losses(new LossRule(true, false, 3))
                .rule(Rule.ofStatuses("busy", FailureClass.THROTTLED, 429, 503))
                .noDeadline()
                .maxAttempts(5)
                .rounding(Rounding.FLOOR_SECONDS)
                .capOrder(CapOrder.JITTER_THEN_CAP)
                .jitter(Jitter.proportional(0.25))
                .cap(ofHours(1))
                .backoff(new Backoff.Exponential(ofMillis(1500), 2, 0));
        assertThat(policy.toJson())
                .isEqualTo(
                        "{\"backoff\":\"exponential\",\"base\":\"PT1.5S\",\"factor\":2,\"offset\":0,\"cap\":\"PT1H\","
                                + "\"jitter\":\"proportional:0.25\",\"capOrder\":\"jitter-then-cap\","
                                + "\"rounding\":\"floor-seconds\",\"maxAttempts\":5,\"deadline\":null,"
                                + "\"rules\":[{\"name\":\"busy\",\"class\":\"THROTTLED\",\"statuses\":[429,503]}],"
                                + "\"losses\":{\"counts\":true,\"backoff\":false,\"max\":3}}");
    }

    @Test
    void absent_is_unset_and_null_is_none() {
        RetryPolicy policy = RetryPolicy.fromJson(" { \"cap\" : null , \"maxAttempts\":null,\"deadline\":null } ");
        assertThat(policy).isEqualTo(RetryPolicy.unset().noCap().unlimited().noDeadline());
        assertThat(RetryPolicy.fromJson("{}")).isEqualTo(RetryPolicy.unset());
        assertThat(RetryPolicy.unset().toJson()).isEqualTo("{}");
    }

    static Stream<String> presets() {
        return Presets.names().stream();
    }

    @ParameterizedTest
    @MethodSource("presets")
    void every_preset_survives_json(String name) {
        RetryPolicy policy = Presets.get(name);
        assertThat(RetryPolicy.fromJson(policy.toJson())).isEqualTo(policy);
        assertThat(RetryPolicy.fromJson(policy.toJson()).toJson()).isEqualTo(policy.toJson());
    }

    @Test
    void escapes_survive() {
        RetryPolicy policy = RetryPolicy.unset()
                .rule(Rule.ofMessages(
                        "quote \" back \\ tab \t euro \u20ac clef \uD834\uDD1E lone \uD834",
                        FailureClass.TRANSIENT,
                        "\\d+\n"));
        assertThat(RetryPolicy.fromJson(policy.toJson())).isEqualTo(policy);
        assertThat(RetryPolicy.fromJson("{\"jitter\":\"\\u0066ull\"}").jitter()).contains(Jitter.full());
    }

    @Test
    void a_combination_of_layers_is_readable_even_if_odd() {
        RetryPolicy odd = RetryPolicy.unset()
                .minDelay(ofSeconds(10))
                .orElse(RetryPolicy.table(ofSeconds(1)).cap(ofSeconds(5)))
                .orElse(RetryPolicy.unset().jitter(Jitter.decorrelated()));
        assertThat(RetryPolicy.fromJson(odd.toJson())).isEqualTo(odd);
    }

    @Test
    void durationsMayBeWrittenAsPeopleWriteThem() {
        RetryPolicy plain = RetryPolicy.fromJson(
                "{\"base\":\"500ms\",\"cap\":\"1.5h\",\"minDelay\":\"1.5s\",\"deadline\":\"2d\",\"retryAfterCap\":\"1m30s\"}");
        assertThat(plain.toJson())
                .isEqualTo("{\"base\":\"PT0.5S\",\"cap\":\"PT1H30M\",\"minDelay\":\"PT1.5S\",\"deadline\":\"PT48H\","
                        + "\"retryAfterCap\":\"PT1M30S\"}");
        assertThat(RetryPolicy.fromJson("{\"backoff\":\"table\",\"delays\":[\"1s\",\"PT5S\"]}"))
                .isEqualTo(RetryPolicy.fromJson("{\"backoff\":\"table\",\"delays\":[\"PT1S\",\"PT5S\"]}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0000',
            value = {
                "{\"maxAttempt\":3}           | no field \"maxAttempt\"; allowed: backoff, delays, base",
                "{\"maxAttempts\":0}          | maxAttempts is 0 but must be 1 to 1000000",
                "{\"maxAttempts\":1.5}        | maxAttempts is 1.5 but must be a whole number",
                "{\"maxAttempts\":9999999999} | maxAttempts is 9999999999 but must be a whole number",
                "{\"maxAttempts\":\"3\"}      | maxAttempts is \"3\" but must be a whole number",
                "{\"cap\":1,\"cap\":2}        | \"cap\" twice",
                "{\"cap\":\"1 hour\"}         | cap is \"1 hour\" but must be a duration such as \"500ms\"",
                "{\"cap\":\"\"}               | cap is \"\" but must be a duration",
                "{\"cap\":\"30\"}             | cap is \"30\" but must be a duration",
                "{\"cap\":\"30s1m\"}          | cap is \"30s1m\" but must be a duration",
                "{\"cap\":\"PT-1S\"}          | cap is PT-1S but must be",
                "{\"base\":null}              | base is null but must be a duration",
                "{\"base\":\"PT999999999H\"}  | base is",
                "{\"factor\":0.5}             | factor is 0.5 but must be 1.0 to 1000.0",
                "{\"factor\":1e999}           | factor is Infinity",
                "{\"factor\":\"2\"}           | factor is \"2\" but must be a number",
                "{\"offset\":2}               | offset is 2 but must be 0 to 1",
                "{\"jitter\":\"ful\"}         | jitter is \"ful\" but must be one of none, full",
                "{\"jitter\":\"proportional:2\"} | jitter ratio is 2.0 but must be 0.0 to 1.0",
                "{\"capOrder\":\"x\"}         | capOrder is \"x\" but must be one of cap-then-jitter, jitter-then-cap,"
                        + " cap-jitter-cap",
                "{\"rounding\":\"up\"}        | rounding is \"up\" but must be one of none, millis, floor-seconds",
                "{\"backoff\":\"quadratic\"}  | backoff is \"quadratic\" but must be one of exponential, linear,"
                        + " fixed, table",
                "{\"backoff\":\"table\"}      | delays must be given with backoff \"table\"",
                "{\"delays\":[\"PT1S\"]}      | delays must be given with backoff \"table\"",
                "{\"backoff\":\"table\",\"delays\":[]} | number of delays is 0 but must be 1 to 1000",
                "{\"retryTimeouts\":1}        | retryTimeouts is 1 but must be true or false",
                "{\"unclassified\":\"LOST\"}  | unclassified is LOST but must be TRANSIENT or PERMANENT",
                "{\"unclassified\":\"MAYBE\"} | unclassified is \"MAYBE\" but must be one of TRANSIENT",
                "{\"rules\":{}}               | rules is {} but must be an array",
                "{\"rules\":[{\"class\":\"PERMANENT\"}]} | rule needs the field \"name\"",
                "{\"rules\":[{\"name\":\"a\",\"class\":\"PERMANENT\",\"type\":[]}]} | rule has no field \"type\";"
                        + " allowed: name, class",
                "{\"rules\":[{\"name\":\"a\",\"class\":\"PERMANENT\"}]} | number of items of rule a is 0",
                "{\"rules\":[{\"name\":\"a\",\"class\":\"PERMANENT\",\"codes\":[1]}]} | codes is 1 but must be a"
                        + " string",
                "{\"rules\":[null]}           | rule must be a JSON object",
                "{\"losses\":{\"counts\":true}} | losses needs the field \"backoff\"",
                "{\"losses\":{\"counts\":true,\"backoff\":true,\"max\":0}} | losses.max is 0 but must be 1 to 1000000",
                "{\"losses\":5}               | losses is 5 but must be an object",
                "[]                           | retry policy must be a JSON object",
                "null                         | retry policy must be a JSON object",
            })
    void a_bad_policy_is_refused_by_field(String json, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson(json))
                .withMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "{\"cap\"",
                "{\"cap\":",
                "{\"cap\":null",
                "{\"cap\":null,}",
                "{cap:null}",
                "{} {}",
                "{\"cap\":nul}",
                "{\"factor\":01}",
                "{\"factor\":.5}",
                "{\"factor\":+1}",
                "{\"factor\":NaN}",
                "{\"jitter\":\"full}",
                "{\"jitter\":\"f\null\"}",
                "{\"jitter\":\"\\x\"}",
                "{\"jitter\":\"\\u00g0\"}",
                "{\"rules\":[1,]}",
                "\uFEFF{}"
            })
    void malformed_json_is_refused_with_the_position(String json) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson(json))
                .withMessageMatching("(?s)JSON: expected .* at character \\d+");
    }

    @Test
    void size_and_depth_are_limited() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson("[".repeat(100_000)))
                .withMessageContaining("nested deeper than 8");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson(" ".repeat(1_000_001)))
                .withMessageContaining("at most 1000000");
    }
}
