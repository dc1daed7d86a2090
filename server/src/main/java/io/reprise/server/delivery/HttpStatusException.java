// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.failure.FailureDetails;
import io.reprise.job.RepriseException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** Thrown if a server answers with a status that is no success. The job's policy decides what follows. */
public final class HttpStatusException extends RepriseException implements FailureDetails {

    private static final long serialVersionUID = 1L;
    private static final int EXCERPT = 200;

    private final int status;
    private final @Nullable Duration retryAfter;

    public HttpStatusException(OutboundAnswer answer, String host, Instant now) {
        super("HTTP " + answer.status() + " from " + host + excerpt(answer));
        this.status = answer.status();
        this.retryAfter = retryAfter(answer.header("Retry-After"), now);
    }

    /** In quotes, so that the receiver's text does not affect the fingerprint. */
    private static String excerpt(OutboundAnswer answer) {
        String text = answer.text().replaceAll("[\\s\\p{Cntrl}\"]+", " ").trim();
        int end = Math.min(text.length(), EXCERPT);
        return text.isEmpty() ? "" : ": \"" + text.substring(0, end) + "\"";
    }

    /** Reads seconds or a date; returns null for any other text. */
    static @Nullable Duration retryAfter(@Nullable String text, Instant now) {
        if (text == null) {
            return null;
        }
        try {
            if (text.matches("[0-9]{1,9}")) {
                return Duration.ofSeconds(Long.parseLong(text));
            }
            Duration until = Duration.between(
                    now,
                    ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                            .toInstant());
            return until.isNegative() ? Duration.ZERO : until;
        } catch (DateTimeException e) {
            return null;
        }
    }

    @Override
    public Integer httpStatus() {
        return status;
    }

    @Override
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** The stack trace of this program says nothing about the call. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
