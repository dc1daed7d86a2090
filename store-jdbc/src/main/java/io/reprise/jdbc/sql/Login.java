// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The login in a URL such as {@code jdbc:postgresql://user:password@host,host/database}.
 *
 * @param url the URL without the login
 * @param user null if the URL has none; likewise the password
 */
public record Login(
        String url, @Nullable String user, @Nullable String password) {

    private static final Pattern LOGIN = Pattern.compile("//([^@/]*)@");

    public static Login in(String url) {
        Matcher login = LOGIN.matcher(url);
        if (!login.find()) {
            return new Login(url, null, null);
        }
        String[] parts = login.group(1).split(":", 2);
        return new Login(login.replaceFirst("//"), decoded(parts[0]), parts.length < 2 ? null : decoded(parts[1]));
    }

    /** Decodes percent signs. A plus stays a plus. */
    private static String decoded(String part) {
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
