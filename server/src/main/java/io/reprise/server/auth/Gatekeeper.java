// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.server.http.Caller;
import io.reprise.server.http.Cookies;
import io.reprise.server.http.Gate;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits requests by their keys. A right key is always admitted, whatever else comes from its address. An address that
 * sends many wrong keys must wait, and the log says so. A key that sends too many requests must wait. Thread-safe.
 */
public final class Gatekeeper implements Gate {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final Pattern KEY = Pattern.compile(Keys.PATTERN);
    private static final String BEARER = "bearer ";

    /** Before a token that logs in once. */
    private static final String LINK = "Link ";

    private static final int MAX_WRONG = 100;
    private static final double PER_SECOND = MAX_WRONG / 60.0;

    private final Keys keys;
    private final Sessions sessions;
    private final Witness witness;
    private final @Nullable Oidc oidc;
    private final InstantSource clock;
    private final int rate;
    private final Buckets requests;
    private final Buckets wrong;
    private final Buckets told;
    private final LongAdder wrongKeys = new LongAdder();

    /** Receives events for the audit log. */
    public interface Witness {

        /** Receives a refused request; of many alike, one per minute. */
        void refused(String by, String subject, String why);

        /** Receives a request that is about to read payloads. */
        void read(String by, String what);
    }

    /**
     * Creates a gate for these sessions and their keys.
     *
     * @param oidc provider whose tokens count too; null if there is none
     * @param witness receives refusals and reads
     * @param rate requests per second that one key, or one address without a key, may send; twice as many at once
     */
    public Gatekeeper(Sessions sessions, @Nullable Oidc oidc, int rate, InstantSource clock, Witness witness) {
        this.sessions = sessions;
        this.oidc = oidc;
        this.witness = witness;
        this.keys = sessions.keys();
        this.clock = clock;
        this.rate = rate;
        this.requests = new Buckets(rate, 2.0 * rate);
        this.wrong = new Buckets(PER_SECOND, MAX_WRONG);
        this.told = new Buckets(1 / 60.0, 1);
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
            throw unauthorized("Send Authorization: Bearer " + Keys.PREFIX + "…");
        }
        if (oidc != null && Oidc.isToken(bearer(authorization))) {
            return byToken(oidc, bearer(authorization), address, needed);
        }
        ApiKey key = key(authorization, address, now);
        Caller caller = authorization.startsWith(Cookies.SCHEME)
                ? key.caller().in(Sessions.id(authorization.substring(Cookies.SCHEME.length())))
                : key.caller();
        throttle(caller.name(), now);
        requireTerms(key, address, now);
        if (!caller.may(needed)) {
            tell(subject(key), caller, "scope " + needed.text() + " is needed", now);
            throw lacking(needed);
        }
        return caller;
    }

    /** Returns the key that is shown, or that a session or a link stands for. */
    private ApiKey key(String authorization, String address, Instant now) {
        if (authorization.startsWith(Cookies.SCHEME)) {
            Optional<ApiKey> key = sessions.key(authorization.substring(Cookies.SCHEME.length()));
            if (key.isEmpty()) {
                throttle(address, now);
                throw unauthorized("This session is over: log in again");
            }
            return key.get();
        }
        if (authorization.startsWith(LINK)) {
            return sessions.useLink(authorization.substring(LINK.length()))
                    .orElseThrow(() -> refused("", address, now));
        }
        Matcher parts = KEY.matcher(bearer(authorization));
        String id = parts.matches() ? parts.group(1) : "";
        return (parts.matches() ? keys.shown(id, parts.group(2)) : Optional.<ApiKey>empty())
                .orElseThrow(() -> refused(id, address, now));
    }

    private Caller byToken(Oidc provider, String token, String address, Scope needed) {
        Instant now = clock.instant();
        Caller caller;
        try {
            caller = provider.caller(token).orElseThrow(() -> refused("", address, now));
        } catch (Problem e) {
            // Nobody knows yet who sent it.
            throttle(address, now);
            throw e;
        }
        throttle(caller.name(), now);
        if (!caller.may(needed)) {
            tell("oidc/" + caller.name(), caller, "scope " + needed.text() + " is needed", now);
            throw lacking(needed);
        }
        return caller;
    }

    private static Problem lacking(Scope needed) {
        return Problem.of(ProblemType.FORBIDDEN, "This needs a key with scope " + needed.text());
    }

    private void requireTerms(ApiKey key, String address, Instant now) {
        if (key.terms().hasExpired(now)) {
            tell(subject(key), key.caller(), "it has expired", now);
            throw unauthorized("This key expired at " + key.terms().expiresAt());
        }
        if (!key.terms().allows(address)) {
            tell(subject(key), key.caller(), "it may not be used from " + address, now);
            throw Problem.of(ProblemType.FORBIDDEN, "This key may not be used from this address");
        }
        keys.used(key);
    }

    /** Headers of the IETF draft: the limit of a window, what is left of it, and when it is full again. */
    @Override
    public Map<String, String> limits(Caller caller) {
        return caller.scopes().isEmpty() ? Map.of() : limits(caller.name(), clock.instant());
    }

    private Map<String, String> limits(String who, Instant now) {
        long seconds = requests.untilFull(who, now).plusMillis(999).toSeconds();
        return Map.of(
                "RateLimit-Policy",
                "\"requests\";q=" + 2 * rate + ";w=2",
                "RateLimit",
                "\"requests\";r=" + requests.left(who, now) + ";t=" + seconds);
    }

    @Override
    public boolean stillAdmits(@Nullable String authorization, @Nullable Scope needed) {
        String shown = bearer(authorization == null ? "" : authorization);
        if (oidc != null && needed != null && Oidc.isToken(shown)) {
            return oidc.caller(shown).filter(caller -> caller.may(needed)).isPresent();
        }
        return needed == null
                || stillKey(authorization == null ? "" : authorization)
                        .filter(key -> !key.terms().hasExpired(clock.instant()))
                        .filter(key -> key.caller().may(needed))
                        .isPresent();
    }

    private Optional<ApiKey> stillKey(String authorization) {
        if (authorization.startsWith(Cookies.SCHEME)) {
            return sessions.key(authorization.substring(Cookies.SCHEME.length()));
        }
        Matcher parts = KEY.matcher(bearer(authorization));
        return parts.matches() ? keys.shown(parts.group(1), parts.group(2)) : Optional.empty();
    }

    /** Returns the number of wrong keys since the start. */
    public long wrongKeys() {
        return wrongKeys.sum();
    }

    private Problem refused(String id, String address, Instant now) {
        wrongKeys.increment();
        if (told.take(address, now)) {
            log.warn("A wrong API key came from {}{}", address, id.isEmpty() ? "" : ", with the id " + id);
            witness.refused("nobody", "address/" + address, "wrong key" + (id.isEmpty() ? "" : " with the id " + id));
        }
        return wrong.take(address, now)
                ? unauthorized("This is not a valid key")
                : tooMany("Too many wrong keys from this address", wrong.untilOne(address, now));
    }

    /** Reports once a minute per caller, whatever the reason: the reason may contain text that the caller chose. */
    @Override
    public void refused(Caller caller, String operation, String why) {
        if (!caller.scopes().isEmpty() && told.take(caller.name(), clock.instant())) {
            log.warn("{} was refused {}: {}", caller.name(), operation, why);
            witness.refused(caller.name(), "operation/" + operation, why);
        }
    }

    @Override
    public void read(Caller caller, String what) {
        witness.read(caller.name(), what);
    }

    private static String subject(ApiKey key) {
        return "api-key/" + key.id();
    }

    private void tell(String subject, Caller caller, String why, Instant now) {
        if (told.take(subject + why, now)) {
            log.warn("{} was refused: {}", subject, why);
            witness.refused(caller.name(), subject, why);
        }
    }

    private void throttle(String who, Instant now) {
        if (!requests.take(who, now)) {
            Problem refused = tooMany("Too many requests", requests.untilOne(who, now));
            for (Map.Entry<String, String> header : limits(who, now).entrySet()) {
                refused = refused.header(header.getKey(), header.getValue());
            }
            throw refused;
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
