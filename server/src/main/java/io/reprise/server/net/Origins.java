// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds where a request comes from. Each proxy adds the address of its client at the end of a header. So the last
 * address that is not a trusted proxy's is believed. Addresses before it may be invented.
 */
public final class Origins {

    private final Predicate<String> trusted;

    public Origins(Predicate<String> trusted) {
        this.trusted = trusted;
    }

    /**
     * Returns the address of the client.
     *
     * @param peer address of the connection
     * @param forwarded values of {@code Forwarded}; they win over the others
     * @param forwardedFor values of {@code X-Forwarded-For}
     */
    public String of(String peer, List<String> forwarded, List<String> forwardedFor) {
        List<String> chain = forwarded.isEmpty() ? split(forwardedFor) : clients(forwarded);
        String origin = peer;
        for (int i = chain.size() - 1; i >= 0 && trusted.test(origin); i--) {
            origin = chain.get(i);
        }
        return origin;
    }

    private static List<String> split(List<String> values) {
        List<String> parts = new ArrayList<>();
        values.forEach(value -> {
            for (String part : value.split(",", -1)) {
                parts.add(address(part.trim()));
            }
        });
        return parts;
    }

    private static List<String> clients(List<String> forwarded) {
        List<String> clients = new ArrayList<>();
        for (String value : forwarded) {
            for (String hop : value.split(",", -1)) {
                String client = client(hop);
                if (client != null) {
                    clients.add(client);
                }
            }
        }
        return clients;
    }

    private static @Nullable String client(String hop) {
        for (String pair : hop.split(";", -1)) {
            String text = pair.trim();
            if (text.toLowerCase(Locale.ROOT).startsWith("for=")) {
                return address(text.substring("for=".length()).replace("\"", ""));
            }
        }
        return null;
    }

    /** Returns the address without brackets and port. */
    private static String address(String text) {
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end < 0 ? text : text.substring(1, end);
        }
        int colon = text.indexOf(':');
        return colon >= 0 && colon == text.lastIndexOf(':') ? text.substring(0, colon) : text;
    }
}
