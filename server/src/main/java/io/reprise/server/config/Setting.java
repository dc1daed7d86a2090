// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One thing that can be set. In a file it is called {@code http.port}, in the environment {@code REPRISE_HTTP_PORT} and on
 * the command line {@code --http-port}.
 */
public enum Setting {
    STORE_URL(
            "store.url",
            "sqlite:reprise.db",
            "Where jobs live: sqlite:FILE or postgresql://USER@HOST/DATABASE.",
            any()),
    HTTP_HOST("http.host", "127.0.0.1", "Address to listen on; 0.0.0.0 for all.", any()),
    HTTP_PORT("http.port", "8080", "Port to listen on; 0 for any free one.", number(0, 65_535)),
    HTTP_MAX_BODY("http.max-body", "10485760", "Bytes a request's body may have.", number(1_024, 1 << 30)),
    HTTP_MAX_HEADER("http.max-header", "16384", "Bytes a request's headers may have.", number(1_024, 1 << 20)),
    HTTP_MAX_CONNECTIONS("http.max-connections", "2000", "Connections open at once.", number(1, 1_000_000)),
    HTTP_IDLE_TIMEOUT("http.idle-timeout", "30s", "How long a connection may be silent.", duration()),
    HTTP_THREADS("http.threads", "64", "Threads that work on requests.", number(8, 10_000)),
    HTTP_RATE_LIMIT("http.rate-limit", "2000", "Requests per second of one key or address.", number(1, 1_000_000)),
    TLS_KEY_STORE("tls.key-store", null, "PKCS #12 or JKS file with the certificate; without, plain HTTP.", any()),
    TLS_PASSWORD("tls.password", null, "Password of the key store.", any()),
    SERVER_URL("server.url", "http://127.0.0.1:8080", "The server that commands talk to.", any()),
    SERVER_KEY("server.key", null, "The API key that commands show to the server.", any()),
    WORKER_NAME("worker.name", null, "Name of this process, unique in the fleet; made up unless set.", any()),
    WORKER_CONCURRENCY("worker.concurrency", "20", "Jobs this process runs at once.", number(1, 10_000)),
    WORKER_LEASE("worker.lease", "30s", "How long a silent worker keeps its jobs.", duration()),
    DELIVERY_ALLOW(
            "delivery.allow",
            null,
            "Special addresses, ranges and hosts that may be called nevertheless, with commas between.",
            any()),
    DELIVERY_PORTS("delivery.ports", null, "Ports that may be called, with commas between; all unless set.", ports()),
    DELIVERY_SECRET(
            "delivery.secret", null, "Secrets that calls are signed with: whsec_…, with commas between.", any()),
    ENCRYPTION_KEYS(
            "encryption.keys",
            null,
            "Keys for payloads at rest: id:base64, with commas between; the first encrypts.",
            any()),
    KEEP_FINISHED("keep.finished", "7d", "How long succeeded and cancelled jobs are kept.", duration()),
    KEEP_FAILED("keep.failed", null, "How long dead letters are kept; for ever unless set.", duration());

    private final String key;
    private final @Nullable String otherwise;
    private final String about;
    private final Consumer<String> check;

    Setting(String key, @Nullable String otherwise, String about, Consumer<String> check) {
        this.key = key;
        this.otherwise = otherwise;
        this.about = about;
        this.check = check;
    }

    public String key() {
        return key;
    }

    public @Nullable String otherwise() {
        return otherwise;
    }

    public String about() {
        return about;
    }

    public String variable() {
        return "REPRISE_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    public String flag() {
        return "--" + key.replace('.', '-');
    }

    /** Whether it is for the commands that talk to a server, rather than for the server. */
    public boolean isForCommands() {
        return this == SERVER_URL || this == SERVER_KEY;
    }

    /** Never shown. */
    public boolean isSecret() {
        return this == TLS_PASSWORD || this == SERVER_KEY || this == DELIVERY_SECRET || this == ENCRYPTION_KEYS;
    }

    /** @throws IllegalArgumentException saying what is wrong */
    void check(String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException("is empty");
        }
        check.accept(value);
    }

    private static Consumer<String> any() {
        return value -> {};
    }

    private static Consumer<String> number(int min, int max) {
        return value -> {
            try {
                int number = Integer.parseInt(value);
                if (number >= min && number <= max) {
                    return;
                }
            } catch (NumberFormatException e) {
                // Refused below in the same words.
            }
            throw new IllegalArgumentException("must be a number from " + min + " to " + max + ", not '" + value + "'");
        };
    }

    private static Consumer<String> ports() {
        Consumer<String> port = number(1, 65_535);
        return value -> Arrays.stream(value.split(",", -1)).map(String::trim).forEach(port);
    }

    private static Consumer<String> duration() {
        return value -> {
            if (Durations.parse(value).isZero()) {
                throw new IllegalArgumentException("must be longer than nothing");
            }
        };
    }
}
