// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cookie of a browser's session. The browser sends it by itself, also for a page of another origin on the same
 * host. So a request that changes something must also say that it comes from our own page.
 */
public final class Cookies {

    /** Before the token of a session, where other callers have "Bearer". */
    public static final String SCHEME = "Session ";

    private static final String NAME = "reprise_session";
    private static final Set<String> READ_METHODS = Set.of("GET", "HEAD");

    private Cookies() {}

    /** Returns a cookie that scripts cannot read and other sites cannot send. */
    public static String session(String token, Duration life, boolean secure) {
        return NAME + "=" + token + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + life.toSeconds()
                + (secure ? "; Secure" : "");
    }

    /** Returns a cookie that replaces the session's and is gone at once. */
    public static String noSession(boolean secure) {
        return session("", Duration.ZERO, secure);
    }

    /**
     * Returns what a request says of its sender: the header Authorization, or the session of its cookie.
     *
     * @param headers all headers named Cookie
     * @throws Problem if a cookie would change something and nothing says that our own page sent it
     */
    static @Nullable String credentials(
            @Nullable String authorization, List<String> headers, String method, boolean ownPage) {
        if (authorization != null) {
            return authorization;
        }
        String token = token(headers);
        if (token == null) {
            return null;
        }
        if (!READ_METHODS.contains(method) && !ownPage) {
            throw Problem.of(
                    ProblemType.FORBIDDEN,
                    "A change under a session needs Sec-Fetch-Site: same-origin, or the header X-Reprise");
        }
        return SCHEME + token;
    }

    private static @Nullable String token(List<String> headers) {
        for (String header : headers) {
            for (String pair : header.split(";", -1)) {
                String text = pair.trim();
                if (text.startsWith(NAME + "=") && text.length() > NAME.length() + 1) {
                    return text.substring(NAME.length() + 1);
                }
            }
        }
        return null;
    }
}
