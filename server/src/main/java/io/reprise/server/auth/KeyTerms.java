// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.server.delivery.TrustedProxies;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a key. Empty sets do not restrict it.
 *
 * @param owner the person who answers for it; null if not named
 * @param expiresAt when it expires; null if never
 * @param queues queues that jobs must be in, by the names that the holder uses
 * @param types types that jobs must be of
 * @param addresses addresses and ranges from which it may be used
 */
public record KeyTerms(
        @Nullable String owner,
        @Nullable Instant expiresAt,
        Set<String> queues,
        Set<String> types,
        Set<String> addresses) {

    public static final KeyTerms NONE = new KeyTerms(null, null, Set.of(), Set.of(), Set.of());

    public KeyTerms {
        queues = Set.copyOf(queues);
        types = Set.copyOf(types);
        addresses = Set.copyOf(addresses);
    }

    /** Reads the terms from the members of an object. */
    public static KeyTerms of(Fields fields) {
        return new KeyTerms(
                fields.text("owner"),
                fields.time("expiresAt"),
                fields.texts("queues"),
                fields.texts("types"),
                fields.texts("addresses"));
    }

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the first that cannot be read
     */
    public void requireAddresses() {
        List.copyOf(addresses).forEach(each -> new TrustedProxies(List.of(each)));
    }

    boolean hasExpired(Instant now) {
        return expiresAt != null && !now.isBefore(expiresAt);
    }

    boolean allows(String address) {
        return addresses.isEmpty() || new TrustedProxies(List.copyOf(addresses)).test(address);
    }

    Caller.Bounds bounds() {
        return new Caller.Bounds(queues, types);
    }

    void write(Map<String, @Nullable Object> view) {
        view.put("owner", owner);
        view.put("expiresAt", expiresAt);
        view.put("queues", List.copyOf(new TreeSet<>(queues)));
        view.put("types", List.copyOf(new TreeSet<>(types)));
        view.put("addresses", List.copyOf(new TreeSet<>(addresses)));
    }
}
