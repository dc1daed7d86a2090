// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Headers that callers may add to an outgoing call. */
public final class HttpHeaders {

    public static final int MAX = 50;
    private static final int MAX_VALUE = 4_000;
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}");
    private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e\\x80-\\xff\\t]*");

    /** Headers that belong to the connection, or that receivers must be able to trust. */
    private static final Set<String> RESERVED = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "keep-alive",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings");

    private static final List<String> RESERVED_PREFIXES = List.of("reprise-", "webhook-", "proxy-", ":");

    private HttpHeaders() {}

    /** Returns the errors by name; empty if there are none. Values may be secret and are not quoted. */
    public static List<String> problems(Map<String, String> headers) {
        List<String> problems = new ArrayList<>();
        if (headers.size() > MAX) {
            problems.add("at most " + MAX + " headers are sent, not " + headers.size());
        }
        headers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (!NAME.matcher(name).matches()) {
                problems.add("a header has a name that is none");
            } else if (RESERVED.contains(lower) || RESERVED_PREFIXES.stream().anyMatch(lower::startsWith)) {
                problems.add("header " + name + " is not yours to set");
            } else if (value.length() > MAX_VALUE || !VALUE.matcher(value).matches()) {
                problems.add("header " + name + " has a value with line breaks or the like, or of more than "
                        + MAX_VALUE + " characters");
            }
        });
        return problems;
    }
}
