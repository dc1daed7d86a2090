// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Logins of browsers. A browser keeps a random token in a cookie; the store keeps the token's hash and the key that it
 * stands for. A session ends with its key: also if the key gets a new secret. Thread-safe.
 */
public final class Sessions {

    /** How long a session lasts. */
    public static final Duration LIFE = Duration.ofHours(12);

    static final String KIND = "session";

    private static final Duration LINK_LIFE = Duration.ofMinutes(15);
    private static final Duration KNOWN_FOR = Duration.ofSeconds(5);
    private static final int MAX_KNOWN = 10_000;
    private static final int LOOKS_PER_SECOND = 5;
    private static final int TOKEN_BYTES = 32;
    private static final Pattern TOKEN = Pattern.compile("[0-9a-f]{64}");

    /**
     * The stored form of a session.
     *
     * @param secret hash of the key's secret when the session began
     */
    private record Stored(String key, String secret, Instant expiresAt) {

        static Stored read(Document document) {
            Fields fields = new Fields(Json.parse(document.json()));
            return new Stored(
                    fields.text("key", ""),
                    fields.text("secret", ""),
                    Instant.parse(fields.text("expiresAt", Instant.EPOCH.toString())));
        }

        boolean isOf(ApiKey key, Instant now) {
            Instant until = key.previousUntil();
            return secret.equals(key.hash()) || (secret.equals(key.previous()) && until != null && now.isBefore(until));
        }
    }

    private record Known(Optional<Stored> session, Instant until) {}

    private record Link(String hash, String key, Instant until) {}

    /** A session that has begun, with its token, which is stored nowhere. */
    public record NewSession(String token, Instant expiresAt) {
        @Override
        public String toString() {
            return "NewSession[until " + expiresAt + "]";
        }
    }

    private final Keys keys;
    private final DocumentStore store;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    private final Buckets looks = new Buckets(LOOKS_PER_SECOND, 10.0 * LOOKS_PER_SECOND);
    private @Nullable Link link;

    public Sessions(Keys keys, DocumentStore store, InstantSource clock) {
        this.keys = keys;
        this.store = store;
        this.clock = clock;
    }

    Keys keys() {
        return keys;
    }

    /**
     * Begins a session of the caller's key.
     *
     * @throws Problem if the caller has no key
     */
    public NewSession begin(Caller caller) {
        String id = caller.login().key();
        Optional<ApiKey> key = id == null ? Optional.empty() : keys.key(id);
        if (key.isEmpty()) {
            throw Problem.of(ProblemType.FORBIDDEN, "A session needs a key; a token of a provider is sent as it is");
        }
        removeExpired();
        String token = token();
        Instant expiresAt = clock.instant().plus(LIFE);
        Map<String, Object> stored =
                Map.of("key", key.get().id(), "secret", key.get().hash(), "expiresAt", expiresAt);
        Document document = new Document(KIND, ApiKey.hash(token), 0, Json.text(stored));
        store.putDocument(document, "log-in", new AuditNote(caller.name(), null));
        return new NewSession(token, expiresAt);
    }

    /** Ends the caller's session; nothing happens without one. */
    public void end(Caller caller) {
        String session = caller.login().session();
        if (session != null) {
            store.document(KIND, session)
                    .ifPresent(
                            document -> store.removeDocument(document, "log-out", new AuditNote(caller.name(), null)));
            known.remove(session);
        }
    }

    /** Returns the key of a session that an address shows; empty if the session has ended. */
    Optional<ApiKey> key(String token, String address) {
        if (!TOKEN.matcher(token).matches()) {
            return Optional.empty();
        }
        Instant now = clock.instant();
        return stored(id(token), address, now)
                .filter(session -> now.isBefore(session.expiresAt))
                .flatMap(session -> keys.key(session.key).filter(key -> session.isOf(key, now)));
    }

    /** Returns the id of a session in the store. */
    static String id(String token) {
        return ApiKey.hash(token);
    }

    private Optional<Stored> stored(String id, String address, Instant now) {
        Known cached = known.get(id);
        if (cached != null && now.isBefore(cached.until)) {
            return cached.session;
        }
        if (!looks.take(address, now)) {
            // Invented tokens must not cost one store call each, and must not shut out sessions from elsewhere.
            return cached == null ? Optional.empty() : cached.session;
        }
        Optional<Stored> session = store.document(KIND, id).map(Stored::read);
        if (known.size() >= MAX_KNOWN) {
            known.clear();
        }
        known.put(id, new Known(session, now.plus(KNOWN_FOR)));
        return session;
    }

    private void removeExpired() {
        Instant now = clock.instant();
        Page<Document> page = store.documents(KIND, DocumentStore.MAX_DOCUMENTS, null);
        page.items().stream()
                .filter(document -> !now.isBefore(Stored.read(document).expiresAt))
                .forEach(store::removeDocument);
    }

    /** Makes a token that logs in once, in this process, within some minutes. It replaces the one before. */
    public synchronized String link(String keyId) {
        String token = token();
        link = new Link(ApiKey.hash(token), keyId, clock.instant().plus(LINK_LIFE));
        return token;
    }

    /** Returns the key of a link, once. */
    synchronized Optional<ApiKey> useLink(String token) {
        Link made = link;
        if (made == null || !made.hash.equals(ApiKey.hash(token))) {
            return Optional.empty();
        }
        link = null;
        return clock.instant().isBefore(made.until) ? keys.key(made.key) : Optional.empty();
    }

    private String token() {
        byte[] some = new byte[TOKEN_BYTES];
        random.nextBytes(some);
        return HexFormat.of().formatHex(some);
    }
}
