// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Addresses that are not those of a public host, after the registries of special-purpose addresses. Of IPv6 only global
 * unicast is public. If an IPv6 address embeds an IPv4 address, that one is checked too.
 */
final class SpecialAddresses {

    private static final Map<AddressRange, String> IPV4 = ranges(
            "0.0.0.0/8", "this host",
            "10.0.0.0/8", "private",
            "100.64.0.0/10", "carrier-grade NAT",
            "127.0.0.0/8", "loopback",
            "169.254.0.0/16", "link-local, where clouds serve their metadata",
            "172.16.0.0/12", "private",
            "192.0.0.0/24", "protocol assignments",
            "192.0.2.0/24", "documentation",
            "192.88.99.0/24", "6to4 relay",
            "192.168.0.0/16", "private",
            "198.18.0.0/15", "benchmarks",
            "198.51.100.0/24", "documentation",
            "203.0.113.0/24", "documentation",
            "224.0.0.0/4", "multicast",
            "240.0.0.0/4", "reserved or broadcast",
            "168.63.129.16/32", "a cloud's metadata");

    private static final Map<AddressRange, String> IPV6 = ranges(
            "::1/128", "loopback",
            "::/128", "this host",
            "fe80::/10", "link-local",
            "fec0::/10", "site-local",
            "fc00::/7", "unique-local",
            "ff00::/8", "multicast",
            "100::/64", "discard-only",
            "2001::/23", "protocol assignments, Teredo among them",
            "2001:db8::/32", "documentation",
            "3fff::/20", "documentation");

    private static final AddressRange GLOBAL_UNICAST = AddressRange.parse("2000::/3");

    /** Ranges that embed an IPv4 address, with the index of its first byte. */
    private static final Map<AddressRange, Integer> EMBEDDING = Map.of(
            AddressRange.parse("64:ff9b::/96"), 12,
            AddressRange.parse("2002::/16"), 2,
            AddressRange.parse("::/96"), 12);

    private SpecialAddresses() {}

    /** Returns what is special about an address; null if it is public. */
    static @Nullable String nameOf(InetAddress address) {
        if (address instanceof Inet4Address) {
            return name(IPV4, address);
        }
        String name = name(IPV6, address);
        if (name != null) {
            return name;
        }
        for (Map.Entry<AddressRange, Integer> embedding : EMBEDDING.entrySet()) {
            if (embedding.getKey().contains(address)) {
                String embedded = nameOf(embedded(address, embedding.getValue()));
                return embedded == null && GLOBAL_UNICAST.contains(address) ? null : "IPv4 embedded in IPv6";
            }
        }
        return GLOBAL_UNICAST.contains(address) ? null : "not global unicast";
    }

    private static InetAddress embedded(InetAddress address, int at) {
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(address.getAddress(), at, at + 4));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are always an address", e);
        }
    }

    private static @Nullable String name(Map<AddressRange, String> ranges, InetAddress address) {
        return ranges.entrySet().stream()
                .filter(range -> range.getKey().contains(address))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
    }

    private static Map<AddressRange, String> ranges(String... pairs) {
        Map<AddressRange, String> ranges = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            ranges.put(AddressRange.parse(pairs[i]), pairs[i + 1]);
        }
        return ranges;
    }
}
