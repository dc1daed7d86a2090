// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.util.List;
import java.util.function.Predicate;

/** Addresses of proxies whose headers about the client are believed. Immutable. */
public final class TrustedProxies implements Predicate<String> {

    private final List<AddressRange> ranges;

    /**
     * Trusts these addresses and no others.
     *
     * @param entries addresses and ranges such as {@code 10.0.0.0/8}
     * @throws IllegalArgumentException if an entry is neither
     */
    public TrustedProxies(List<String> entries) {
        this.ranges = entries.stream().map(AddressRange::parse).toList();
    }

    @Override
    public boolean test(String address) {
        try {
            return ranges.stream().anyMatch(range -> range.contains(AddressRange.literal(address)));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
