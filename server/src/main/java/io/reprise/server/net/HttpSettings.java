// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How the server listens, and its limits.
 *
 * @param port 0 for any free port
 * @param tls null for plain HTTP
 * @param proxies proxies whose headers about the client are believed
 */
public record HttpSettings(
        String host, int port, Limits limits, @Nullable Tls tls, Proxies proxies) {

    public HttpSettings(String host, int port, Limits limits, @Nullable Tls tls) {
        this(host, port, limits, tls, Proxies.NONE);
    }

    /**
     * The proxies in front of the server.
     *
     * @param trusted whether the headers of an address count
     * @param protocol whether connections begin with a line of the PROXY protocol
     */
    public record Proxies(Predicate<String> trusted, boolean protocol) {

        public static final Proxies NONE = new Proxies(address -> false, false);
    }

    /**
     * Limits for clients.
     *
     * @param body bytes of a request's body
     * @param header bytes of a request's line and headers
     * @param connections open connections
     * @param idle how long a connection may be silent, also during a request
     * @param request how long the headers of a request may take to arrive, and its body
     * @param threads threads that work on requests
     * @param inFlight bytes of bodies and answers in memory at once; three eighths of it for one tenant or key
     * @param answerRate bytes per second at which an answer must be read, beyond the time of {@code request}
     * @param perAddress open connections of one address; trusted proxies have no limit
     */
    public record Limits(
            int body,
            int header,
            int connections,
            Duration idle,
            Duration request,
            int threads,
            long inFlight,
            long answerRate,
            int perAddress) {

        /** A body takes several times its size while it is processed. */
        private static final long OF_HEAP = Runtime.getRuntime().maxMemory() / 8;

        private static final long SLOWEST = 16 << 10;

        public static final Limits DEFAULT =
                new Limits(10 << 20, 16 << 10, 2_000, Duration.ofSeconds(30), Duration.ofSeconds(30), 64);

        /** Creates limits with as many bytes in flight as fit into the memory. */
        public Limits(int body, int header, int connections, Duration idle, Duration request, int threads) {
            this(body, header, connections, idle, request, threads, OF_HEAP, SLOWEST, connections);
        }

        /** Limits the connections of one address. */
        public Limits perAddress(int most) {
            return new Limits(body, header, connections, idle, request, threads, inFlight, answerRate, most);
        }
    }

    /**
     * The server's certificate and key.
     *
     * @param files a key store, or a chain of certificates and a private key, both in PEM
     * @param password password of the key store; null for PEM
     * @param clientCa authorities for client certificates, in PEM; null if clients need none
     */
    public record Tls(
            List<Path> files,
            @Nullable String password,
            @Nullable Path clientCa) {

        public Tls {
            files = List.copyOf(files);
        }

        public static Tls keyStore(Path file, String password) {
            return new Tls(List.of(file), password, null);
        }

        public static Tls pem(Path chain, Path key) {
            return new Tls(List.of(chain, key), null, null);
        }

        /** Requires client certificates for all operations that need a key. */
        public Tls clientsOf(Path authorities) {
            return new Tls(files, password, authorities);
        }

        @Override
        public String toString() {
            return "Tls" + files;
        }
    }
}
