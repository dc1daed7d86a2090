// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Scope;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import io.reprise.store.StoreException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The API keys. A key's text is {@code reprise_ID_SECRET}. A key is read again after a few seconds, so a revoked key
 * may work that long in another process. Thread-safe.
 */
public final class Keys {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final Duration KNOWN_FOR = Duration.ofSeconds(5);
    private static final int MAX_KNOWN = 10_000;
    private static final Duration NOTED_EVERY = Duration.ofMinutes(1);
    private static final String USE = "api-key-use";
    private static final int LOOKS_PER_SECOND = 50;
    private static final int PAGE = 1_000;
    private static final int SECRET_BYTES = 32;
    private static final int ID_BYTES = 6;

    /** A key with its text, which is not stored anywhere. */
    public record NewKey(String text, Map<String, @Nullable Object> view) {
        @Override
        public String toString() {
            return "NewKey[" + view.get("id") + "]";
        }
    }

    /** Unique to Reprise, so that scanners for leaked secrets recognise the keys. */
    public static final String PREFIX = "reprise_";

    /** The text of a key: its id and its secret. */
    static final String PATTERN = PREFIX + "([0-9a-f]{12})_([0-9a-f]{64})";

    /** Ids that there are; those made since elsewhere are not among them. */
    private record Ids(Set<String> all, Set<String> tenants, Instant until) {}

    private record Known(Optional<ApiKey> key, Instant until) {}

    private final DocumentStore store;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    private final Map<String, Instant> used = new ConcurrentHashMap<>();
    private final Buckets looks = new Buckets(LOOKS_PER_SECOND, 4.0 * LOOKS_PER_SECOND);
    private Ids ids = new Ids(Set.of(), Set.of(), Instant.MIN);

    public Keys(DocumentStore store, InstantSource clock) {
        this.store = store;
        this.clock = clock;
    }

    public boolean isEmpty() {
        return store.documents(ApiKey.KIND, 1, null).items().isEmpty();
    }

    /** Creates a key. Its text is only in the answer. */
    public NewKey create(String name, Set<Scope> scopes, @Nullable String tenant, AuditNote note) {
        return create(name, scopes, tenant, KeyTerms.NONE, note);
    }

    /** Creates a key with terms. Its text is only in the answer. */
    public NewKey create(String name, Set<Scope> scopes, @Nullable String tenant, KeyTerms terms, AuditNote note) {
        return create(text(hex(ID_BYTES), hex(SECRET_BYTES)), name, scopes, tenant, terms, note);
    }

    /** Creates a key whose text the caller made. */
    public NewKey create(String text, String name, Set<Scope> scopes, @Nullable String tenant, AuditNote note) {
        return create(text, name, scopes, tenant, KeyTerms.NONE, note);
    }

    private NewKey create(
            String text, String name, Set<Scope> scopes, @Nullable String tenant, KeyTerms terms, AuditNote note) {
        requireKey(text);
        String secret = text.substring(text.lastIndexOf('_') + 1);
        ApiKey key = new ApiKey(
                text.split("_", -1)[1], name, scopes, tenant, ApiKey.hash(secret), null, null, clock.instant(), terms);
        Document document = new Document(ApiKey.KIND, key.id(), 0, key.json());
        if (store.putDocument(document, "create-key", note.changing(Json.change(null, key.view())))
                .isEmpty()) {
            throw Problem.of(ProblemType.CONFLICT, "Another key got the same id; try again");
        }
        known.put(key.id(), new Known(Optional.of(key), clock.instant().plus(KNOWN_FOR)));
        return new NewKey(text(key.id(), secret), view(key, null));
    }

    /** Gives a key a new secret. The old one is valid for the grace. */
    public NewKey rotate(String id, Duration grace, AuditNote note) {
        Document document = require(id);
        String secret = hex(SECRET_BYTES);
        ApiKey key = ApiKey.read(document)
                .rotated(ApiKey.hash(secret), clock.instant().plus(grace));
        if (store.putDocument(document.with(key.json()), "rotate-key", note).isEmpty()) {
            throw Problem.of(ProblemType.CONFLICT, "The key was changed by another at the same time");
        }
        known.remove(id);
        return new NewKey(text(id, secret), view(key, use(id).orElse(null)));
    }

    public void revoke(String id, AuditNote note) {
        Document document = require(id);
        if (!store.removeDocument(
                document,
                "revoke-key",
                note.changing(Json.change(ApiKey.read(document).view(), null)))) {
            throw Problem.of(ProblemType.CONFLICT, "The key was changed by another at the same time");
        }
        known.remove(id);
        use(id).ifPresent(store::removeDocument);
    }

    public Map<String, @Nullable Object> view(String id) {
        return view(ApiKey.read(require(id)), use(id).orElse(null));
    }

    private static Map<String, @Nullable Object> view(ApiKey key, @Nullable Document use) {
        Map<String, @Nullable Object> view = key.view();
        view.put("lastUsedAt", use == null ? null : Json.parse(use.json()).get("at"));
        return view;
    }

    private Optional<Document> use(String id) {
        return store.document(USE, id);
    }

    public Page<Map<String, @Nullable Object>> list(int limit, @Nullable String after) {
        Page<Document> page = store.documents(ApiKey.KIND, limit, after);
        // There are no more uses than keys, so this page of uses covers the page of keys.
        Map<String, Document> uses = new HashMap<>();
        store.documents(USE, limit, after).items().forEach(use -> uses.put(use.id(), use));
        return new Page<>(
                page.items().stream()
                        .map(document -> view(ApiKey.read(document), uses.get(document.id())))
                        .toList(),
                page.next());
    }

    /** Returns the key; empty if the id is unknown or the secret wrong. It does not check the terms. */
    Optional<ApiKey> shown(String id, String secret) {
        Optional<ApiKey> key = key(id);
        // An unknown id takes as much work as a known one.
        boolean right = key.orElse(NOBODY).accepts(secret, clock.instant());
        return right ? key : Optional.empty();
    }

    /** Notes that a key is in use, once a minute. */
    void used(ApiKey key) {
        Instant now = clock.instant();
        Instant noted = used.get(key.id());
        if (noted != null && Duration.between(noted, now).compareTo(NOTED_EVERY) < 0) {
            return;
        }
        if (used.size() >= MAX_KNOWN) {
            used.clear();
        }
        used.put(key.id(), now);
        try {
            Document before = use(key.id()).orElse(new Document(USE, key.id(), 0, "{}"));
            store.putDocument(before.with(Json.text(Map.of("at", now))));
        } catch (StoreException e) {
            log.debug("The use of key {} could not be noted: {}", key.id(), e.getMessage());
        }
    }

    private static final ApiKey NOBODY =
            new ApiKey("nobody", "nobody", Set.of(), null, "", null, null, Instant.EPOCH, KeyTerms.NONE);

    /** Returns a key by its id; empty if there is none. */
    Optional<ApiKey> key(String id) {
        Instant now = clock.instant();
        Known cached = known.get(id);
        if (cached != null && now.isBefore(cached.until)) {
            return cached.key;
        }
        // A flood of invented ids must not cost one store call each. Beyond the rate only existing ids are read.
        Optional<ApiKey> key = looks.take("", now) || isId(id, now)
                ? store.document(ApiKey.KIND, id).map(ApiKey::read)
                : Optional.empty();
        if (known.size() >= MAX_KNOWN) {
            known.clear();
        }
        known.put(id, new Known(key, now.plus(KNOWN_FOR)));
        return key;
    }

    private boolean isId(String id, Instant now) {
        return ids(now).all.contains(id);
    }

    /** Whether there is a key of this tenant, or was a moment ago. */
    public boolean isTenant(String name) {
        return ids(clock.instant()).tenants.contains(name);
    }

    private synchronized Ids ids(Instant now) {
        if (now.isAfter(ids.until)) {
            Set<String> all = new HashSet<>();
            Set<String> tenants = new HashSet<>();
            String after = null;
            do {
                Page<Document> page = store.documents(ApiKey.KIND, PAGE, after);
                for (Document document : page.items()) {
                    all.add(document.id());
                    String tenant = ApiKey.read(document).tenant();
                    if (tenant != null) {
                        tenants.add(tenant);
                    }
                }
                after = page.next();
            } while (after != null);
            ids = new Ids(all, tenants, now.plus(KNOWN_FOR));
        }
        return ids;
    }

    /**
     * Checks that a text is a key.
     *
     * @throws IllegalArgumentException without quoting the text
     */
    public static void requireKey(String text) {
        if (!text.matches(PATTERN)) {
            throw new IllegalArgumentException("a key is " + PREFIX + ", 12 hexadecimal digits, _ and 64 of them");
        }
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
        return PREFIX + id + "_" + secret;
    }
}
