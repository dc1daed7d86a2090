// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Keeps outgoing calls from special addresses: private, link-local, loopback, multicast, metadata and others, unless
 * they are on the list of allowed ones. A name is judged by all addresses that it resolves to at the moment of a
 * connection, and the connection goes to those addresses. Thread-safe.
 */
public final class OutboundGuard {

    /** Other programs read such hosts as decimal, octal or hexadecimal addresses, so they are refused as ambiguous. */
    private static final Pattern ENDS_IN_NUMBER = Pattern.compile("(?:.*\\.)?(?:[0-9]+|0[xX][0-9a-fA-F]*)\\.?");

    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int MAX_URL = 4_000;

    /** Host names that DNS can resolve. */
    private static final int MAX_HOST = 253;

    private static final int MAX_LABEL = 63;

    private final List<AddressRange> ranges = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final List<String> suffixes = new ArrayList<>();
    private final Set<Integer> ports;
    private final Resolver resolver;
    private final Duration longest;

    /**
     * Creates a guard.
     *
     * @param allowed special targets that are allowed: an address, a range such as {@code 10.0.0.0/8}, a host name such
     *     as {@code hooks.internal}, or all below one as in {@code *.internal}
     * @param ports ports that may be called; empty for all
     * @throws IllegalArgumentException if an entry is none of these
     */
    public OutboundGuard(List<String> allowed, Set<Integer> ports, Resolver resolver) {
        this(allowed, ports, resolver, LONGEST);
    }

    /**
     * Creates a guard with another limit for calls.
     *
     * @param longest the longest time that a call may take
     */
    public OutboundGuard(List<String> allowed, Set<Integer> ports, Resolver resolver, Duration longest) {
        this.longest = longest;
        allowed.forEach(this::allow);
        this.ports = Set.copyOf(ports);
        this.resolver = resolver;
    }

    /** Returns the longest time that a call may take. */
    Duration longest() {
        return longest;
    }

    private void allow(String entry) {
        String text = entry.trim().toLowerCase(Locale.ROOT);
        if (text.startsWith("*.") && text.length() > 2) {
            suffixes.add(text.substring(1));
        } else if (text.indexOf('/') >= 0 || AddressRange.isLiteral(text)) {
            ranges.add(AddressRange.parse(text));
        } else if (text.matches("[a-z0-9]([a-z0-9.-]*[a-z0-9])?")) {
            names.add(text);
        } else {
            throw new IllegalArgumentException(
                    "'" + entry + "' is neither an address, nor a range such as 10.0.0.0/8, nor a host name");
        }
    }

    /**
     * Reads a URL and checks everything that needs no DNS look-up.
     *
     * @throws RefusedTargetException saying why it may not be called
     */
    public URI check(String url) {
        if (url.length() > MAX_URL) {
            throw new RefusedTargetException("The URL has more than " + MAX_URL + " characters");
        }
        URI uri = parse(url);
        String scheme = uri.getScheme();
        if (!"http".equalsIgnoreCase(scheme) && !"https".equalsIgnoreCase(scheme)) {
            throw new RefusedTargetException("Only http and https URLs are called, not " + scheme);
        }
        String host = uri.getHost();
        if (host == null) {
            throw new RefusedTargetException(
                    "The URL names no host that can be called: write http://host/ or https://host/"
                            + " with a plain name or address");
        }
        if (uri.getRawUserInfo() != null) {
            throw new RefusedTargetException("The URL holds a user or password: send them in a header");
        }
        int port = port(uri);
        if (port < 1 || port > 65_535 || (!ports.isEmpty() && !ports.contains(port))) {
            throw new RefusedTargetException("Port " + port + " may not be called");
        }
        checkLiteral(host);
        return uri;
    }

    private static URI parse(String url) {
        try {
            return new URI(url);
        } catch (java.net.URISyntaxException e) {
            throw new RefusedTargetException("The URL cannot be read: " + e.getReason());
        }
    }

    static int port(URI uri) {
        if (uri.getPort() >= 0) {
            return uri.getPort();
        }
        return "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
    }

    private void checkLiteral(String host) {
        boolean quad = AddressRange.isLiteral(host);
        if (!quad && ENDS_IN_NUMBER.matcher(host).matches()) {
            throw new RefusedTargetException(
                    "'" + host + "' is an address in an odd notation: write four decimal numbers");
        }
        if (quad || host.startsWith("[")) {
            checkAddress(host, address(host));
        } else if (host.length() > MAX_HOST
                || Arrays.stream(host.split("\\.")).anyMatch(part -> part.length() > MAX_LABEL)) {
            throw new RefusedTargetException("There is no such host: a name has at most " + MAX_HOST
                    + " characters, and " + MAX_LABEL + " between two dots");
        }
    }

    private static InetAddress address(String host) {
        String text = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        try {
            return AddressRange.literal(text);
        } catch (IllegalArgumentException e) {
            // An address with a zone, or out of range: it names an interface of this machine, or nothing.
            throw new RefusedTargetException("'" + host + "' is not an address that can be called");
        }
    }

    /**
     * Returns the addresses of a host that may be called.
     *
     * @throws RefusedTargetException if one of its addresses is special and not allowed
     */
    List<InetAddress> resolve(String host) throws UnknownHostException {
        String name = host.toLowerCase(Locale.ROOT);
        checkLiteral(name.indexOf(':') >= 0 && !name.startsWith("[") ? "[" + name + "]" : name);
        List<InetAddress> addresses = List.copyOf(resolver.resolve(name));
        if (addresses.isEmpty()) {
            throw new UnknownHostException(name);
        }
        if (!isAllowedName(name)) {
            addresses.forEach(address -> checkAddress(host, address));
        }
        return addresses;
    }

    private boolean isAllowedName(String name) {
        return names.contains(name) || suffixes.stream().anyMatch(name::endsWith);
    }

    private void checkAddress(String host, InetAddress address) {
        if (ranges.stream().anyMatch(range -> range.contains(address))) {
            return;
        }
        String special = SpecialAddresses.nameOf(address);
        if (special != null) {
            // Without the address: a user who may enqueue a job must not learn about our network.
            throw new RefusedTargetException("'" + host + "' has an address that may not be called (" + special
                    + "). An operator can allow it.");
        }
    }
}
