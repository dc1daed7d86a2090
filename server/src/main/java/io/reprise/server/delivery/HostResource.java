// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/** The resource of a call that names none: its host, so that breaker and budget are kept per host. */
public final class HostResource {

    private static final int HASH_CHARS = 12;

    private HostResource() {}

    /**
     * Returns the name of the resource.
     *
     * @param most characters it may have; the beginning of a longer name is hashed, because its end says more
     */
    public static String of(URI uri, int most) {
        String host = String.valueOf(uri.getHost()).toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            return "ip6:" + host.substring(1, host.length() - 1);
        }
        return host.length() <= most
                ? host
                : hash(host) + "-" + host.substring(host.length() - (most - HASH_CHARS - 1));
    }

    private static String hash(String host) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(host.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum, 0, HASH_CHARS / 2);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256", e);
        }
    }
}
