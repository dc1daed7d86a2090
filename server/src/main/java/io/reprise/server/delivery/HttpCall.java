// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The payload of an {@code http} job: the request to make.
 *
 * @param method GET, HEAD, POST, PUT, PATCH or DELETE; default POST
 * @param headers headers to send
 * @param body text is sent as it is, anything else as JSON; default none
 * @param timeout for the whole call; default {@code 30s}
 * @param followRedirects whether redirects are followed; default true
 */
public record HttpCall(
        @Nullable String method,
        @Nullable String url,
        @Nullable Map<String, String> headers,
        @Nullable Object body,
        @Nullable String timeout,
        @Nullable Boolean followRedirects) {

    static final Duration DEFAULT_LIMIT = Duration.ofSeconds(30);
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE");
    private static final Set<String> WITHOUT_BODY = Set.of("GET", "HEAD");

    /** An error in one member. */
    public record Flaw(String member, String message) {}

    /** Returns every error; empty if the call can be sent. */
    public List<Flaw> flaws(OutboundGuard guard) {
        List<Flaw> flaws = new ArrayList<>();
        if (!METHODS.contains(verb())) {
            flaws.add(new Flaw("method", "is none of GET, HEAD, POST, PUT, PATCH and DELETE"));
        } else if (body != null && WITHOUT_BODY.contains(verb())) {
            flaws.add(new Flaw("body", "is not sent with " + verb()));
        }
        if (url == null) {
            flaws.add(new Flaw("url", "is missing"));
        } else {
            try {
                guard.check(url);
            } catch (RefusedTargetException e) {
                flaws.add(new Flaw("url", String.valueOf(e.getMessage())));
            }
        }
        HttpHeaders.problems(extraHeaders()).forEach(problem -> flaws.add(new Flaw("headers", problem)));
        try {
            limit();
        } catch (IllegalArgumentException e) {
            flaws.add(new Flaw("timeout", String.valueOf(e.getMessage())));
        }
        return flaws;
    }

    String verb() {
        return method == null ? "POST" : method.toUpperCase(Locale.ROOT);
    }

    Map<String, String> extraHeaders() {
        return headers == null ? Map.of() : headers;
    }

    boolean follows() {
        return followRedirects == null || followRedirects;
    }

    Duration limit() {
        if (timeout == null) {
            return DEFAULT_LIMIT;
        }
        Duration limit = Durations.parse(timeout);
        if (limit.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("timeout must be 1 ms or more");
        }
        return limit;
    }
}
