// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.server.KeyStores;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.HttpServer;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Response;
import io.reprise.server.http.Scope;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real certificates on a real socket. */
class TlsTest {

    private static final String NAME = "ip:127.0.0.1";
    private static final char[] PASSWORD = KeyStores.PASSWORD.toCharArray();

    @TempDir
    Path directory;

    /** A certificate with its key, in every form. */
    private record Identity(KeyStore store, Path p12, Path chain, Path key) {

        X509Certificate certificate() throws Exception {
            return (X509Certificate) store.getCertificate("key");
        }
    }

    private Identity identity(String name) throws Exception {
        Path own = Files.createDirectories(directory.resolve(name));
        Path p12 = KeyStores.make(own, NAME);
        KeyStore store = KeyStore.getInstance(p12.toFile(), PASSWORD);
        Path chain = own.resolve("chain.pem");
        Path key = own.resolve("key.pem");
        Files.writeString(chain, pem("CERTIFICATE", store.getCertificate("key").getEncoded()));
        Files.writeString(key, pem("PRIVATE KEY", store.getKey("key", PASSWORD).getEncoded()));
        return new Identity(store, p12, chain, key);
    }

    private static String pem(String what, byte[] der) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    private static HttpServer start(HttpSettings.Tls tls) throws IOException {
        Endpoints endpoints = () -> List.of(
                Operation.get("/open", "open")
                        .section("Test")
                        .summary("For anyone")
                        .forAnyone()
                        .answers(204, "yes")
                        .does(request -> Response.noContent()),
                Operation.get("/closed", "closed")
                        .section("Test")
                        .summary("For those with a key")
                        .scope(Scope.READ)
                        .answers(204, "yes")
                        .does(request -> Response.noContent()));
        return HttpServer.start(
                new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, tls),
                (authorization, address, needed) -> new Caller("ada", Set.of(Scope.READ), null),
                List.of(endpoints));
    }

    /** Trusts whatever certificate it is shown: the tests look at it themselves. */
    private static SSLContext client(@Nullable Identity identity) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(identity == null ? null : identity.store, identity == null ? null : PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), new TrustManager[] {new Trusting()}, null);
        return context;
    }

    private static X509Certificate shown(HttpServer server) throws Exception {
        try (SSLSocket socket = (SSLSocket) client(null).getSocketFactory().createSocket("127.0.0.1", server.port())) {
            socket.startHandshake();
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    private static int get(HttpServer server, @Nullable Identity identity, String path) throws Exception {
        HttpClient client = HttpClient.newBuilder().sslContext(client(identity)).build();
        return client.send(
                        HttpRequest.newBuilder(URI.create(server.url() + path)).build(),
                        HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private static void await(Check check) throws Exception {
        for (int looks = 0; looks < 18_000 && !check.isTrue(); looks++) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(check.isTrue()).isTrue();
    }

    private interface Check {
        boolean isTrue() throws Exception;
    }

    @Test
    void certificates_come_from_pem_and_from_key_stores() throws Exception {
        Identity identity = identity("a");
        for (HttpSettings.Tls tls : List.of(
                HttpSettings.Tls.pem(identity.chain, identity.key),
                HttpSettings.Tls.keyStore(identity.p12, KeyStores.PASSWORD))) {
            try (HttpServer server = start(tls)) {
                assertThat(shown(server)).isEqualTo(identity.certificate());
                assertThat(get(server, null, "/open")).isEqualTo(204);
            }
        }
    }

    @Test
    void a_certificate_that_is_put_in_place_is_used_without_a_restart() throws Exception {
        Identity first = identity("first");
        Identity second = identity("second");
        try (HttpServer server = start(HttpSettings.Tls.pem(first.chain, first.key))) {
            assertThat(shown(server)).isEqualTo(first.certificate());
            // For a moment the two files do not belong together, and the old certificate stays.
            Files.copy(second.key, first.key, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            assertThat(shown(server)).isEqualTo(first.certificate());
            Files.writeString(first.chain, "nonsense");
            assertThat(shown(server)).isEqualTo(first.certificate());
            Files.copy(second.chain, first.chain, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            await(() -> shown(server).equals(second.certificate()));
        }
    }

    @Test
    void with_an_authority_for_clients_a_key_needs_a_certificate() throws Exception {
        Identity own = identity("server");
        Identity client = identity("client");
        Identity stranger = identity("stranger");
        try (HttpServer server = start(HttpSettings.Tls.pem(own.chain, own.key).clientsOf(client.chain))) {
            assertThat(get(server, client, "/closed")).isEqualTo(204);
            assertThat(get(server, null, "/closed")).isEqualTo(403);
            assertThat(get(server, null, "/open")).as("a probe has none").isEqualTo(204);
            assertThatThrownBy(() -> get(server, stranger, "/open")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void what_cannot_be_used_is_said_at_the_start() throws Exception {
        Identity identity = identity("a");
        assertThatThrownBy(() -> start(HttpSettings.Tls.pem(identity.key, identity.key)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be used");
        assertThatThrownBy(() -> start(HttpSettings.Tls.keyStore(identity.p12, "wrong")))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> start(HttpSettings.Tls.pem(identity.chain, identity("b").key)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("does not belong to the certificate");
    }

    @Test
    void keys_are_read_in_the_forms_that_other_programs_write() throws Exception {
        KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
        rsa.initialize(2048);
        PrivateKey key = rsa.generateKeyPair().getPrivate();
        byte[] pkcs8 = key.getEncoded();
        byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 26, pkcs8.length);
        assertThat(Pem.privateKey(bytes(pem("PRIVATE KEY", pkcs8)))).isEqualTo(key);
        assertThat(Pem.privateKey(bytes(pem("RSA PRIVATE KEY", pkcs1)))).isEqualTo(key);
        for (String curve : List.of("secp256r1", "secp384r1", "secp521r1")) {
            KeyPairGenerator ec = KeyPairGenerator.getInstance("EC");
            ec.initialize(new ECGenParameterSpec(curve));
            PrivateKey own = ec.generateKeyPair().getPrivate();
            byte[] sec1 = inner(own.getEncoded());
            assertThat(Pem.privateKey(bytes("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n"
                            + "-----END EC PARAMETERS-----\n" + pem("EC PRIVATE KEY", sec1))))
                    .as(curve)
                    .isEqualTo(own);
        }
        PrivateKey edwards =
                KeyPairGenerator.getInstance("Ed25519").generateKeyPair().getPrivate();
        assertThat(Pem.privateKey(bytes(pem("PRIVATE KEY", edwards.getEncoded()))))
                .isEqualTo(edwards);
        assertThatThrownBy(() -> Pem.privateKey(bytes(pem("ENCRYPTED PRIVATE KEY", pkcs8))))
                .hasMessageContaining("openssl");
        assertThatThrownBy(() -> Pem.privateKey(bytes("nothing"))).hasMessageContaining("no private key");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The octet string at the end of PKCS #8: past the version and the algorithm. */
    private static byte[] inner(byte[] pkcs8) {
        int at = header(pkcs8, 0);
        at += 3;
        at = header(pkcs8, at) + length(pkcs8, at);
        int begin = header(pkcs8, at);
        return Arrays.copyOfRange(pkcs8, begin, begin + length(pkcs8, at));
    }

    private static int header(byte[] der, int at) {
        int first = der[at + 1] & 0xff;
        return at + 2 + (first < 0x80 ? 0 : first & 0x7f);
    }

    private static int length(byte[] der, int at) {
        int first = der[at + 1] & 0xff;
        int length = first < 0x80 ? first : 0;
        for (int i = 0; first >= 0x80 && i < (first & 0x7f); i++) {
            length = (length << 8) | (der[at + 2 + i] & 0xff);
        }
        return length;
    }

    private static final class Trusting extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
