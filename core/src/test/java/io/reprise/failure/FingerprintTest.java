// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FingerprintTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0000',
            value = {
                "order 17 not found | order 4711 not found",
                "took 1.5 s | took 12,000.25 s",
                "balance -3 | balance 1.5E10",
                "no user 9f8b1c1e-3b1f-4a52-9d7c-0a1b2c3d4e5f | no user 00000000-0000-0000-0000-000000000001",
                "object 0xdeadbeef gone | object 0x1 gone",
                "commit 3f2a9bc missing | commit 77de01a9bcd missing",
                "Foo@1b2c3d failed | Foo@9 failed",
                "key 'alice' is taken | key 'bob o hara' is taken",
                "column \"a\" unknown | column \"b c\" unknown",
                "mail to ann@example.com bounced | mail to bob.b+x@mail.example.org bounced",
                "connect to 10.0.0.1:5432 failed | connect to 192.168.100.20:80 failed",
                "connect to db-1.example.com:5432 failed | connect to localhost:1 failed",
                "connect to db.example.com/10.0.0.1:5432 failed | connect to other.example.com/10.9.9.9:1 failed",
                "connect to ::1 failed | connect to fe80::1:2:3 failed",
                "cannot open /var/lib/a.txt | cannot open /tmp/x/y/z-2.log",
                "cannot open C:\\data\\a.txt | cannot open D:\\b",
                "GET https://example.com/a?b=1 failed | GET http://other.example.org:8080/c failed",
                "expired at 2026-11-15T10:00:00Z | expired at 2025-01-02 03:04:05.678+01:00",
                "ids 1, 2, 3 missing | ids 4 missing",
                "job 01J9ZK3W6QGXV7T2 lost | job 7ZZZZABCDE12345F lost",
                "shard12 down | shard7 down",
            })
    void what_varies_does_not_split_a_group(String one, String other) {
        assertThat(MessageShape.of(one)).isEqualTo(MessageShape.of(other));
        assertThat(of(one)).isEqualTo(of(other)).matches("[0-9a-f]{16}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "connection refused | connection reset",
                "order 17 not found | order 17 not paid",
                "read timed out | connect timed out",
                "can't parse x, won't stop | can't parse y, won't stop",
            })
    void different_errors_stay_apart(String one, String other) {
        assertThat(of(one)).isNotEqualTo(of(other));
    }

    @Test
    void type_code_and_status_split_a_group() {
        assertThat(of("a"))
                .isNotEqualTo(Failure.reported("Other", null, null, "a", null).fingerprint());
        assertThat(of("a"))
                .isNotEqualTo(Failure.reported("E", "c", null, "a", null).fingerprint());
        assertThat(Failure.reported("E", null, 500, "a", null).fingerprint())
                .isNotEqualTo(Failure.reported("E", null, 503, "a", null).fingerprint());
    }

    @Test
    void line_numbers_and_generated_names_do_not_split_a_group() {
        Exception one = thrownAt(
                frame("app.Shop$$Lambda$14/0x0000000800c03000", "run", 3),
                frame("app.Shop", "lambda$pay$3", 10),
                frame("app.Shop$$EnhancerBySpringCGLIB$$1a2b3c", "pay", 1),
                frame("jdk.proxy2.$Proxy41", "pay", -1),
                frame("jdk.internal.reflect.NativeMethodAccessorImpl", "invoke0", -2));
        Exception other = thrownAt(
                frame("app.Shop$$Lambda$201/0x0000000801234567", "run", 5),
                frame("app.Shop", "lambda$pay$12", 99),
                frame("app.Shop$$EnhancerBySpringCGLIB$$ffee00", "pay", 2),
                frame("jdk.proxy2.$Proxy7", "pay", -1),
                frame("jdk.internal.reflect.GeneratedMethodAccessor12", "invoke", -1),
                frame("java.lang.reflect.Method", "invoke", 566));
        assertThat(Failure.of(one).fingerprint()).isEqualTo(Failure.of(other).fingerprint());
    }

    @Test
    void another_place_or_another_cause_splits_a_group() {
        Exception here = thrownAt(frame("app.Shop", "pay", 1));
        Exception there = thrownAt(frame("app.Shop", "refund", 1));
        Exception caused = thrownAt(frame("app.Shop", "pay", 1));
        caused.initCause(thrownAt(frame("app.Bank", "book", 1)));
        assertThat(Failure.of(here).fingerprint())
                .isNotEqualTo(Failure.of(there).fingerprint())
                .isNotEqualTo(Failure.of(caused).fingerprint());
    }

    @Test
    void the_fingerprint_is_of_the_whole_message_not_of_what_is_kept() {
        String long1 = "x ".repeat(5000) + "refused";
        String long2 = "x ".repeat(5000) + "reset";
        assertThat(of(long1)).isNotEqualTo(of(long2));
    }

    private static String of(String message) {
        return Failure.reported("E", null, null, message, null).fingerprint();
    }

    private static Exception thrownAt(StackTraceElement... frames) {
        Exception thrown = new Exception("boom");
        thrown.setStackTrace(frames);
        return thrown;
    }

    private static StackTraceElement frame(String type, String method, int line) {
        return new StackTraceElement(type, method, "File.java", line);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "Connection refused", " leading", "trailing ", "abcdefab", "two  spaces", "tab\there"})
    void patterns_that_are_passed_over_would_have_changed_nothing(String message) {
        assertThat(MessageShape.of(message)).isEqualTo(MessageShape.replaced(message, true));
    }

    @Test
    void patterns_are_passed_over_only_where_they_match_nothing() {
        String[] parts = {
            "order",
            "42",
            "'x'",
            "\"y\"",
            "`z`",
            "http://a/b?c",
            "a@b.org",
            "-",
            "2026-11-15",
            "10:11:12",
            "::1",
            "a/1.2.3.4:5",
            "db:5432",
            "1.2.3.4",
            "/tmp/x",
            "C:\\x",
            "T@1f",
            "0xFF",
            "deadbeef1",
            "a1b2c3d4e5f6g7",
            "1,5e3",
            "?",
            ", ",
            "\n",
            " "
        };
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder message = new StringBuilder();
            for (int n = random.nextInt(6); n >= 0; n--) {
                message.append(parts[random.nextInt(parts.length)]).append(random.nextBoolean() ? " " : "");
            }
            assertThat(MessageShape.of(message.toString())).isEqualTo(MessageShape.replaced(message.toString(), true));
        }
    }

    @Test
    void numbers_are_found_as_their_pattern_finds_them() {
        String characters = "0179aeEx_-+.,? /";
        Random random = new Random(2);
        for (int i = 0; i < 50_000; i++) {
            StringBuilder message = new StringBuilder();
            for (int n = random.nextInt(9); n >= 0; n--) {
                message.append(characters.charAt(random.nextInt(characters.length())));
            }
            assertThat(MessageShape.of(message.toString())).isEqualTo(MessageShape.replaced(message.toString(), true));
        }
    }
}
