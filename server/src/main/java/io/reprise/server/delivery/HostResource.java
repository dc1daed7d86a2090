// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.URI;
import java.util.Locale;

/** The resource of a call that names none: the host it goes to, so that breaker and budget are kept per host. */
public final class HostResource {

    private static final int MAX = 100;

    private HostResource() {}

    public static String of(URI uri) {
        String host = String.valueOf(uri.getHost()).toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            return "ip6:" + host.substring(1, host.length() - 1);
        }
        // The end of a long name says more than its beginning.
        String end = host.length() <= MAX ? host : host.substring(host.length() - MAX);
        return end.replaceFirst("^[^a-z0-9]+", "");
    }
}
