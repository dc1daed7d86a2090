// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.reprise.server.KeyStores;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The connection goes to an address, but the certificate must be that of the name. */
class OutboundTlsTest {

    @TempDir
    Path directory;

    private final AtomicInteger calls = new AtomicInteger();

    private HttpsServer server(Path file) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, KeyStores.PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, KeyStores.PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(AddressRange.literal("127.0.0.1"), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/", exchange -> {
            calls.incrementAndGet();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        return server;
    }

    @Test
    void a_certificate_of_another_name_is_refused() throws Exception {
        Path file = KeyStores.make(directory, "dns:hooks.example.org");
        HttpsServer server = server(file);
        SslContextFactory.Client trust = new SslContextFactory.Client();
        trust.setTrustStorePath(file.toString());
        trust.setTrustStorePassword(KeyStores.PASSWORD);
        OutboundGuard guard =
                new OutboundGuard(List.of("127.0.0.1"), Set.of(), host -> List.of(AddressRange.literal("127.0.0.1")));
        try (OutboundClient client = new OutboundClient(guard, () -> trust);
                OutboundClient distrusting = new OutboundClient(guard)) {
            String there = ":" + server.getAddress().getPort() + "/";
            assertThat(OutboundClientTest.send(client, get("https://hooks.example.org" + there))
                            .status())
                    .isEqualTo(204);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> OutboundClientTest.send(client, get("https://other.example.org" + there)))
                    .withCauseInstanceOf(SSLHandshakeException.class);
            assertThatExceptionOfType(IOException.class)
                    .as("signed by nobody")
                    .isThrownBy(() -> OutboundClientTest.send(distrusting, get("https://hooks.example.org" + there)))
                    .withCauseInstanceOf(SSLHandshakeException.class);
            assertThat(calls).hasValue(1);
        } finally {
            server.stop(0);
        }
    }

    private static OutboundCall get(String url) {
        return new OutboundCall("GET", URI.create(url), Map.of(), "", Duration.ofSeconds(30));
    }
}
