// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.job.AuditNote;
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
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Logins of browsers. A browser keeps a random token in a cookie; the store keeps the token's hash and the key that it
 * stands for. A session ends with its key: also if the key gets a new secret. A token names its key and is signed, so
 * an invented one costs no look at the store and keeps no other out. Thread-safe.
 */
public final class Sessions {

    /** How long a session lasts. */
    public static final Duration LIFE = Duration.ofHours(12);

    static final String KIND = "session";

    private static final Duration LINK_LIFE = Duration.ofMinutes(15);
    private static final Duration KNOWN_FOR = Duration.ofSeconds(5);
    private static final int MAX_KNOWN = 10_000;
    private static final int TOKEN_BYTES = 32;
    private static final int KEY_ID = 12;

    /** Sessions of one key at once. A further one ends the one that would end first. */
    static final int MAX_PER_KEY = 100;

    /** The id of the key, a random part, and the signature of both. */
    private static final Pattern TOKEN = Pattern.compile("([0-9a-f]{12})([0-9a-f]{64})([0-9a-f]{20})");

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
    private final StoreSecret signer;
    private @Nullable Link link;

    public Sessions(Keys keys, DocumentStore store, InstantSource clock) {
        this.keys = keys;
        this.store = store;
        this.clock = clock;
        this.signer = StoreSecret.of(store);
    }

    Keys keys() {
        return keys;
    }

    /**
     * Begins a session of the caller's key.
     *
     * @throws Problem if the caller has no key, or shows a session: a stolen one must not outlive its end
     */
    public NewSession begin(Caller caller) {
        String id = caller.login().key();
        Optional<ApiKey> key = id == null ? Optional.empty() : keys.key(id);
        if (key.isEmpty()) {
            throw Problem.of(ProblemType.FORBIDDEN, "A session needs a key; a token of a provider is sent as it is");
        }
        if (caller.login().session() != null) {
            throw Problem.of(ProblemType.FORBIDDEN, "A session begins with a key, not with another session");
        }
        makeRoom(key.get().id());
        String unsigned = key.get().id() + token();
        String token = unsigned + signer.mark(signed(unsigned));
        Instant expiresAt = clock.instant().plus(LIFE);
        Map<String, Object> stored =
                Map.of("key", key.get().id(), "secret", key.get().hash(), "expiresAt", expiresAt);
        Document document = new Document(KIND, id(token), 0, Json.text(stored));
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

    /** Returns the key of a session; empty if the session has ended, or never began. */
    Optional<ApiKey> key(String token) {
        Matcher parts = TOKEN.matcher(token);
        if (!parts.matches() || !signer.isMark(parts.group(3), signed(parts.group(1) + parts.group(2)))) {
            return Optional.empty();
        }
        Instant now = clock.instant();
        return stored(id(token), now)
                .filter(session -> now.isBefore(session.expiresAt))
                .flatMap(session -> keys.key(session.key).filter(key -> session.isOf(key, now)));
    }

    private static String signed(String text) {
        return "session " + text;
    }

    /** Returns the id of a session in the store: sessions of one key stand together. */
    static String id(String token) {
        return ofKey(token.substring(0, KEY_ID)) + ApiKey.hash(token);
    }

    private static String ofKey(String key) {
        return key + "-";
    }

    private Optional<Stored> stored(String id, Instant now) {
        Known cached = known.get(id);
        if (cached != null && now.isBefore(cached.until)) {
            return cached.session;
        }
        Optional<Stored> session = store.document(KIND, id).map(Stored::read);
        if (known.size() >= MAX_KNOWN) {
            known.clear();
        }
        known.put(id, new Known(session, now.plus(KNOWN_FOR)));
        return session;
    }

    /** Ends the sessions of a key that are over or too many, and some of others that are over. */
    private void makeRoom(String key) {
        List<Document> own = store.documents(KIND, DocumentStore.MAX_DOCUMENTS, ofKey(key)).items().stream()
                .takeWhile(document -> document.id().startsWith(ofKey(key)))
                .sorted(Comparator.comparing((Document document) -> Stored.read(document).expiresAt)
                        .reversed())
                .toList();
        own.stream().skip(MAX_PER_KEY - 1).forEach(this::remove);
        removeExpired(own);
        // From a random place on, so that the sessions of keys that log in no more are seen some day.
        removeExpired(
                store.documents(KIND, MAX_PER_KEY, token().substring(0, KEY_ID)).items());
    }

    private void removeExpired(List<Document> documents) {
        Instant now = clock.instant();
        documents.stream()
                .filter(document -> !now.isBefore(Stored.read(document).expiresAt))
                .forEach(this::remove);
    }

    private void remove(Document document) {
        store.removeDocument(document);
        known.remove(document.id());
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
