// SPDX-License-Identifier: Apache-2.0
package io.reprise.encryption;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.EngineFixture;
import io.reprise.PayloadCodec;
import io.reprise.Replay;
import io.reprise.TextCodec;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.PayloadException;
import io.reprise.retry.FailReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EncryptingCodecTest {

    private static final byte[] OLD = key("an old key of 32 bytes, like all");
    private static final byte[] NEW = key("a new key of 32 bytes, like all.");
    private static final EncryptionKeys BEFORE = EncryptionKeys.of("2025", OLD);
    private static final EncryptionKeys AFTER = EncryptionKeys.of("2026", NEW).reading("2025", OLD);

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static PayloadCodec codec(EncryptionKeys keys) {
        return new EncryptingCodec(new TextCodec(), keys);
    }

    @Test
    void what_is_stored_is_not_what_was_said_and_comes_back_as_it_was() {
        PayloadCodec codec = codec(BEFORE);
        for (String text : List.of("", "{}", "{\"name\":\"Ada\"}", "Größe 😀", "x".repeat(100_000))) {
            String sealed = codec.seal(text);
            assertThat(sealed)
                    .startsWith("{\"$sealed\":\"v1.2025.")
                    .endsWith("\"}")
                    .doesNotContain("\"Ada\"");
            assertThat(codec.open(sealed)).isEqualTo(text);
        }
    }

    @Test
    void no_two_texts_look_alike() {
        PayloadCodec codec = codec(BEFORE);
        Set<String> sealed = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            sealed.add(codec.seal("{}"));
        }
        assertThat(sealed).hasSize(100);
    }

    @Test
    void after_a_rotation_the_new_key_encrypts_and_the_old_one_still_reads() {
        String old = codec(BEFORE).seal("{}");
        assertThat(codec(AFTER).open(old)).isEqualTo("{}");
        assertThat(codec(AFTER).seal("{}")).contains("v1.2026.");
    }

    @Test
    void what_was_stored_before_encryption_is_read_as_it_is() {
        assertThat(codec(AFTER).open("{\"plain\":1}")).isEqualTo("{\"plain\":1}");
    }

    @Test
    void a_key_that_is_missing_is_named() {
        String sealed = codec(AFTER).seal("secret");
        assertThatExceptionOfType(PayloadException.class)
                .isThrownBy(() -> codec(BEFORE).open(sealed))
                .withMessageContaining("'2026'")
                .withMessageContaining("[2025]");
        assertThatExceptionOfType(PayloadException.class)
                .isThrownBy(() -> new TextCodec().open(sealed))
                .withMessageContaining("encrypted");
    }

    @Test
    void another_key_of_the_same_name_is_noticed() {
        String sealed = codec(BEFORE).seal("secret");
        assertThatExceptionOfType(PayloadException.class)
                .isThrownBy(() -> codec(EncryptionKeys.of("2025", NEW)).open(sealed))
                .withMessageContaining("'2025'");
    }

    @Test
    void every_change_of_the_text_is_noticed() {
        EncryptionKeys keys = EncryptionKeys.of("a", OLD).reading("b", OLD);
        String sealed = codec(keys).seal("{\"amount\":1}");
        int begin = sealed.lastIndexOf('.') + 1;
        for (int i = begin; i < sealed.length() - 3; i++) {
            char other = sealed.charAt(i) == 'A' ? 'B' : 'A';
            String changed = sealed.substring(0, i) + other + sealed.substring(i + 1);
            assertThatExceptionOfType(PayloadException.class)
                    .isThrownBy(() -> codec(keys).open(changed));
        }
        assertThatExceptionOfType(PayloadException.class)
                .as("the name of the key")
                .isThrownBy(() -> codec(keys).open(sealed.replace("v1.a.", "v1.b.")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"$sealed\":\"",
                "{\"$sealed\":\"v1.",
                "{\"$sealed\":\"v1.2025\"}",
                "{\"$sealed\":\"v1.2025.\"}",
                "{\"$sealed\":\"v1.2025.AAAA\"}",
                "{\"$sealed\":\"v1.2025.***\"}",
                "{\"$sealed\":\"v2.2025.AAAA\"}"
            })
    void nonsense_is_refused(String stored) {
        assertThatExceptionOfType(PayloadException.class)
                .isThrownBy(() -> codec(BEFORE).open(stored));
    }

    @Test
    void keys_are_checked_and_never_shown() {
        String base64 = Base64.getEncoder().encodeToString(NEW);
        assertThat(EncryptionKeys.parse(List.of(
                                "n:" + base64, "o:" + Base64.getEncoder().encodeToString(OLD)))
                        .toString())
                .isEqualTo("EncryptionKeys[n, o] current n");
        assertThatIllegalArgumentException().isThrownBy(() -> EncryptionKeys.of("x", new byte[15]));
        assertThatIllegalArgumentException().isThrownBy(() -> EncryptionKeys.of("no name", NEW));
        assertThatIllegalArgumentException().isThrownBy(() -> AFTER.reading("2025", NEW));
        assertThatIllegalArgumentException().isThrownBy(() -> EncryptionKeys.parse(List.of()));
        for (String bad : List.of(base64, "x:" + base64 + "!", ":" + base64)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> EncryptionKeys.parse(List.of(bad)))
                    .withMessageNotContaining(base64.substring(0, 8));
        }
    }

    @Test
    void payload_result_and_edited_payload_are_encrypted_in_the_store() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    if (payload.equals("first")) {
                        throw new IllegalArgumentException("fails");
                    }
                    job.result("answer");
                },
                builder -> builder.codec(codec(BEFORE)))) {
            JobId id = engine.reprise.enqueue(WORK.job("first"));
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED);
            engine.reprise.as("ada", null).replay(id, Replay.FRESH.withPayload("\"second\""));
            engine.worker.advance(Duration.ofSeconds(1));
            Job job = engine.memory.find(id).orElseThrow();
            assertThat(engine.ran).containsExactly("first", "\"second\"");
            assertThat(job.spec().payload()).startsWith(PayloadCodec.SEALED);
            assertThat(job.status().result()).startsWith(PayloadCodec.SEALED);
            assertThat(engine.reprise.await(id, Duration.ofSeconds(1)).result(String.class))
                    .isEqualTo("answer");
            assertThat(engine.job(id).spec().payload()).as("with the key").isEqualTo("\"second\"");
            assertThat(engine.job(id).status().result()).isEqualTo("answer");
        }
    }

    @Test
    void a_worker_without_the_key_fails_the_job_as_unreadable_and_says_why() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.codec(codec(AFTER)))) {
            String sealed = codec(EncryptionKeys.of("2027", NEW)).seal("x");
            JobId id = engine.memory
                    .insert(List.of(JobSpec.builder("work", sealed).build()))
                    .get(0)
                    .id();
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNREADABLE);
            assertThat(engine.job(id).status().lastError().message()).contains("'2027'");
        }
    }
}
