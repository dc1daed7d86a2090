// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the server listens and what it puts up with.
 *
 * @param port 0 for any free one
 * @param tls null for plain HTTP
 */
public record HttpSettings(
        String host, int port, Limits limits, @Nullable Tls tls) {

    /**
     * What a client may use up.
     *
     * @param body bytes of a request's body
     * @param header bytes of a request's line and headers
     * @param connections open at once
     * @param idle how long a connection may be silent, in the midst of a request too
     * @param request how long the headers of a request may take to arrive, and its body
     * @param threads that work on requests
     */
    public record Limits(int body, int header, int connections, Duration idle, Duration request, int threads) {

        public static final Limits DEFAULT =
                new Limits(10 << 20, 16 << 10, 2_000, Duration.ofSeconds(30), Duration.ofSeconds(30), 64);
    }

    /** A key store with the server's certificate, and its password. */
    public record Tls(Path keyStore, String password) {

        @Override
        public String toString() {
            return "Tls[" + keyStore + "]";
        }
    }
}
