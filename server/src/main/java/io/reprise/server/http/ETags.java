// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Conditions of a request on a version, as in RFC 9110. */
public final class ETags {

    private ETags() {}

    /** Whether a condition names the tag: one or more tags between commas, weak or not, or a star for any. */
    public static boolean match(@Nullable String condition, String tag) {
        return condition != null
                && Arrays.stream(condition.split(",", -1))
                        .map(String::trim)
                        .map(each -> each.startsWith("W/") ? each.substring(2) : each)
                        .anyMatch(each -> each.equals("*") || each.equals(tag));
    }
}
