// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.server.http.Caller;
import io.reprise.server.http.Gate;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests in by their keys. An address that shows wrong secrets of one key is locked out for a while, for this key, and
 * one that shows many wrong keys for all of them: then not even the right one is looked at. Who asks too often is told to wait. Thread-safe.
 */
public final class Gatekeeper implements Gate {

    private static final Pattern KEY = Pattern.compile("rk_([0-9a-f]{12})_([0-9a-f]{64})");
    private static final String BEARER = "bearer ";
    private static final int MAX_WRONG = 10;
    private static final int MAX_WRONG_FROM = 100;
    private static final Duration LOCKOUT = Duration.ofMinutes(1);

    private final Keys keys;
    private final InstantSource clock;
    private final Buckets requests;
    private final Buckets wrong;
    private final Buckets wrongFrom;

    /**
     * A gate before these keys.
     *
     * @param rate requests per second that one key, or one address without a key, may send; twice as many at once
     */
    public Gatekeeper(Keys keys, int rate, InstantSource clock) {
        this.keys = keys;
        this.clock = clock;
        this.requests = new Buckets(rate, 2.0 * rate);
        this.wrong = new Buckets(MAX_WRONG / (double) LOCKOUT.toSeconds(), MAX_WRONG);
        this.wrongFrom = new Buckets(MAX_WRONG_FROM / (double) LOCKOUT.toSeconds(), MAX_WRONG_FROM);
    }

    @Override
    public Caller admit(@Nullable String authorization, String address, @Nullable Scope needed) {
        Instant now = clock.instant();
        if (needed == null) {
            throttle(address, now);
            return Caller.ANYONE;
        }
        if (authorization == null) {
            throttle(address, now);
            throw unauthorized("Send Authorization: Bearer rk_…");
        }
        Matcher parts = KEY.matcher(bearer(authorization));
        String id = parts.matches() ? parts.group(1) : "";
        String suspect = id + "@" + address;
        if (wrong.isEmpty(suspect, now)) {
            throw tooMany("Too many wrong secrets of this key from this address", wrong.untilOne(suspect, now));
        }
        if (wrongFrom.isEmpty(address, now)) {
            throw tooMany("Too many wrong keys from this address", wrongFrom.untilOne(address, now));
        }
        Caller caller = parts.matches() ? keys.caller(id, parts.group(2)).orElse(null) : null;
        if (caller == null) {
            wrong.take(suspect, now);
            wrongFrom.take(address, now);
            throw unauthorized("This is not a valid key");
        }
        throttle(id, now);
        if (!caller.may(needed)) {
            throw Problem.of(ProblemType.FORBIDDEN, "This needs a key with scope " + needed.text());
        }
        return caller;
    }

    private void throttle(String who, Instant now) {
        if (!requests.take(who, now)) {
            throw tooMany("Too many requests", requests.untilOne(who, now));
        }
    }

    private static String bearer(String authorization) {
        return authorization.toLowerCase(Locale.ROOT).startsWith(BEARER)
                ? authorization.substring(BEARER.length()).trim()
                : "";
    }

    private static Problem unauthorized(String detail) {
        return Problem.of(ProblemType.UNAUTHORIZED, detail).header("WWW-Authenticate", "Bearer");
    }

    private static Problem tooMany(String detail, Duration wait) {
        long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
        return Problem.of(ProblemType.TOO_MANY_REQUESTS, detail + "; try again in " + seconds + " s")
                .header("Retry-After", Long.toString(seconds));
    }
}
