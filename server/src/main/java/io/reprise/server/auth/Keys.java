// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.server.http.Caller;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Scope;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import io.reprise.store.Note;
import io.reprise.store.Page;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The API keys there are. A key's text is {@code rk_ID_SECRET}. What is known of a key is asked for again after a few
 * seconds, so that is how long a revoked key may still work in another process. Thread-safe.
 */
public final class Keys {

    private static final Duration KNOWN_FOR = Duration.ofSeconds(5);
    private static final int MAX_KNOWN = 10_000;
    private static final int SECRET_BYTES = 32;
    private static final int ID_BYTES = 6;

    /** A key with its text, which is nowhere to be had again. */
    public record NewKey(String text, Map<String, @Nullable Object> view) {
        @Override
        public String toString() {
            return "NewKey[" + view.get("id") + "]";
        }
    }

    private record Known(Optional<ApiKey> key, Instant until) {}

    private final DocumentStore store;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Known> known = new ConcurrentHashMap<>();

    public Keys(DocumentStore store, InstantSource clock) {
        this.store = store;
        this.clock = clock;
    }

    public boolean isEmpty() {
        return store.documents(ApiKey.KIND, 1, null).items().isEmpty();
    }

    /** Makes a key. Its text is in the answer and nowhere else. */
    public NewKey create(String name, Set<Scope> scopes, @Nullable String tenant, Note note) {
        String secret = hex(SECRET_BYTES);
        ApiKey key = new ApiKey(hex(ID_BYTES), name, scopes, tenant, ApiKey.hash(secret), null, null, clock.instant());
        Document document = new Document(ApiKey.KIND, key.id(), 0, key.json());
        if (store.putDocument(document, "create-key", note).isEmpty()) {
            throw Problem.of(ProblemType.CONFLICT, "Another key got the same id; try again");
        }
        known.remove(key.id());
        return new NewKey(text(key.id(), secret), key.view());
    }

    /** Gives a key a new secret; the old one counts for the grace. */
    public NewKey rotate(String id, Duration grace, Note note) {
        Document document = require(id);
        String secret = hex(SECRET_BYTES);
        ApiKey key = ApiKey.read(document)
                .rotated(ApiKey.hash(secret), clock.instant().plus(grace));
        if (store.putDocument(document.with(key.json()), "rotate-key", note).isEmpty()) {
            throw Problem.of(ProblemType.CONFLICT, "The key was changed by another at the same time");
        }
        known.remove(id);
        return new NewKey(text(id, secret), key.view());
    }

    public void revoke(String id, Note note) {
        Document document = require(id);
        if (!store.removeDocument(document, "revoke-key", note)) {
            throw Problem.of(ProblemType.CONFLICT, "The key was changed by another at the same time");
        }
        known.remove(id);
    }

    public Map<String, @Nullable Object> view(String id) {
        return ApiKey.read(require(id)).view();
    }

    public Page<Map<String, @Nullable Object>> list(int limit, @Nullable String after) {
        Page<Document> page = store.documents(ApiKey.KIND, limit, after);
        return new Page<>(
                page.items().stream()
                        .map(document -> ApiKey.read(document).view())
                        .toList(),
                page.next());
    }

    /** Who shows this key; empty if it is none of ours, or not right. */
    Optional<Caller> caller(String id, String secret) {
        Optional<ApiKey> key = key(id);
        // As much work for an unknown id as for a known one.
        boolean right = key.orElse(NOBODY).accepts(secret, clock.instant());
        return right ? key.map(ApiKey::caller) : Optional.empty();
    }

    private static final ApiKey NOBODY = new ApiKey("nobody", "nobody", Set.of(), null, "", null, null, Instant.EPOCH);

    private Optional<ApiKey> key(String id) {
        Instant now = clock.instant();
        Known cached = known.get(id);
        if (cached != null && now.isBefore(cached.until)) {
            return cached.key;
        }
        Optional<ApiKey> key = store.document(ApiKey.KIND, id).map(ApiKey::read);
        if (known.size() >= MAX_KNOWN) {
            known.clear();
        }
        known.put(id, new Known(key, now.plus(KNOWN_FOR)));
        return key;
    }

    private Document require(String id) {
        return store.document(ApiKey.KIND, id).orElseThrow(() -> Problem.notFound("Key '" + id + "'"));
    }

    private String hex(int bytes) {
        byte[] some = new byte[bytes];
        random.nextBytes(some);
        return HexFormat.of().formatHex(some);
    }

    private static String text(String id, String secret) {
        return "rk_" + id + "_" + secret;
    }
}
