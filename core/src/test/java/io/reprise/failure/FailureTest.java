// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FailureTest {

    private static final class Rejected extends RuntimeException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        @Override
        public String code() {
            return "rejected";
        }

        @Override
        public Integer httpStatus() {
            return 429;
        }

        @Override
        public Duration retryAfter() {
            return ofSeconds(7);
        }
    }

    private static final class Broken extends RuntimeException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message for you");
        }

        @Override
        public synchronized Throwable getCause() {
            throw new StackOverflowError();
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            throw new UnsupportedOperationException();
        }

        @Override
        public String toString() {
            throw new IllegalStateException();
        }

        @Override
        public @Nullable String code() {
            throw new IllegalStateException();
        }
    }

    @Test
    void it_holds_the_chain_with_supertypes() {
        Failure failure = Failure.of(new IllegalStateException("outer", new IOException("inner")));
        assertThat(failure.type()).isEqualTo("java.lang.IllegalStateException");
        assertThat(failure.message()).isEqualTo("outer");
        assertThat(failure.chain()).extracting(Failure.Link::message).containsExactly("outer", "inner");
        assertThat(failure.chain().get(1).types())
                .startsWith("java.io.IOException", "java.lang.Exception")
                .contains("java.lang.Throwable", "java.io.Serializable");
        assertThat(failure.given()).isNull();
    }

    @Test
    void details_are_found_along_the_chain() {
        Failure failure = Failure.of(new RuntimeException(new Rejected()));
        assertThat(failure.code()).isEqualTo("rejected");
        assertThat(failure.httpStatus()).isEqualTo(429);
        assertThat(failure.retryAfter()).isEqualTo(ofSeconds(7));
    }

    @Test
    void a_cycle_of_causes_ends() {
        Exception a = new Exception("a");
        Exception b = new Exception("b", a);
        a.initCause(b);
        assertThat(Failure.of(a).chain()).hasSize(2);
    }

    @Test
    void a_long_chain_is_cut_at_16() {
        Throwable thrown = new Exception("root");
        for (int i = 0; i < 100; i++) {
            thrown = new Exception("wrap", thrown);
        }
        assertThat(Failure.of(thrown).chain()).hasSize(16);
    }

    @Test
    void an_exception_that_throws_when_read_is_still_reported() {
        Failure failure = Failure.of(new RuntimeException("outer", new Broken()));
        assertThat(failure.chain()).hasSize(2);
        assertThat(failure.chain().get(1).message()).isEmpty();
        assertThat(failure.code()).isNull();
        assertThat(failure.trace()).contains("outer", Broken.class.getName());
        assertThat(Failure.of(new Broken()).message()).isEmpty();
    }

    @Test
    void frames_that_an_exception_lacks_or_changes_are_read_as_they_are() {
        StackTraceElement[] frames = new StackTraceElement[2];
        frames[1] = new StackTraceElement("a.B", "c", "B.java", 1);
        Exception odd = new Exception("odd") {
            private static final long serialVersionUID = 1L;

            @Override
            public StackTraceElement[] getStackTrace() {
                return frames;
            }
        };
        assertThat(Failure.of(odd).trace()).contains("\tat null\n\tat a.B.c(B.java:1)\n");
        frames[1] = new StackTraceElement("a.B", "c", "B.java", 2);
        assertThat(Failure.of(odd).trace()).contains("\tat a.B.c(B.java:2)\n");
    }

    @Test
    void the_trace_reads_like_a_java_trace() {
        Failure failure = Failure.of(new IllegalStateException("outer", new IOException("inner")));
        assertThat(failure.trace())
                .startsWith("java.lang.IllegalStateException: outer\n\tat "
                        + getClass().getName())
                .contains("Caused by: java.io.IOException: inner\n")
                .containsPattern("\\.\\.\\. \\d+ more\n");
    }

    @Test
    void a_surrogate_pair_is_never_split() {
        String clef = "\uD834\uDD1E";
        for (int pad = 0; pad < 2; pad++) {
            String cut = Failure.reported("E", null, null, "x".repeat(pad) + clef.repeat(2000), null)
                    .message();
            assertThat(cut).hasSizeLessThanOrEqualTo(2000);
            assertThat(new String(
                            cut.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                            java.nio.charset.StandardCharsets.UTF_8))
                    .isEqualTo(cut);
        }
    }

    @Test
    void a_text_at_the_limit_is_kept_whole() {
        assertThat(Failure.reported("E", null, null, "x".repeat(2000), null).message())
                .isEqualTo("x".repeat(2000));
        assertThat(Failure.reported("E", null, null, "x".repeat(2001), null).message())
                .isEqualTo("x".repeat(1960) + "... (41 more characters)");
    }

    @Test
    void a_remote_report_needs_only_a_type() {
        Failure failure = Failure.reported("ConnectionError", null, null, null, null);
        assertThat(failure.message()).isEmpty();
        assertThat(failure.trace()).isEmpty();
        assertThat(failure.withTrace("line").trace()).isEqualTo("line");
        assertThat(failure.withGiven(FailureClass.PERMANENT).given()).isEqualTo(FailureClass.PERMANENT);
        assertThat(failure).isEqualTo(Failure.reported("ConnectionError", null, null, null, null));
        assertThat(Objects.hash(failure)).isNotZero();
    }

    @Test
    void a_missing_throwable_is_refused_at_once() {
        assertThatNullPointerException().isThrownBy(() -> Failure.of((Throwable) null));
        assertThatNullPointerException().isThrownBy(() -> Failure.of(FailureClass.LOST, (Throwable) null));
    }
}
