// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Scope;
import io.reprise.store.Document;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A key as it is stored: with the hash of its secret, never the secret.
 *
 * @param previous hash of the secret before the last rotation; valid until {@code previousUntil}
 */
record ApiKey(
        String id,
        String name,
        Set<Scope> scopes,
        @Nullable String tenant,
        String hash,
        @Nullable String previous,
        @Nullable Instant previousUntil,
        Instant createdAt,
        KeyTerms terms) {

    static final String KIND = "api-key";

    /** Characters of a name in the audit log, which has room for a hundred in all. */
    private static final int MAX_SHOWN = 40;

    static ApiKey read(Document document) {
        Fields fields = new Fields(Json.parse(document.json()));
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        fields.texts("scopes").forEach(text -> scopes.add(Scope.valueOf(text.toUpperCase(Locale.ROOT))));
        return new ApiKey(
                document.id(),
                fields.text("name", document.id()),
                scopes,
                fields.text("tenant"),
                fields.text("hash", ""),
                fields.text("previous"),
                fields.time("previousUntil"),
                Instant.parse(fields.text("createdAt", Instant.EPOCH.toString())),
                KeyTerms.of(fields));
    }

    String json() {
        Map<String, @Nullable Object> all = view();
        all.put("hash", hash);
        all.put("previous", previous);
        all.put("previousUntil", previousUntil);
        return Json.text(all);
    }

    /** Returns the fields for clients. */
    Map<String, @Nullable Object> view() {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("id", id);
        all.put("name", name);
        all.put("scopes", scopes.stream().sorted().map(Scope::text).toList());
        all.put("tenant", tenant);
        all.put("createdAt", createdAt);
        terms.write(all);
        return all;
    }

    ApiKey rotated(String newHash, Instant until) {
        return new ApiKey(id, name, scopes, tenant, newHash, hash, until, createdAt, terms);
    }

    /** Takes the same time whether the secret is right or wrong. */
    boolean accepts(String secret, Instant now) {
        String presented = hash(secret);
        boolean current = same(presented, hash);
        boolean earlier = same(presented, previous == null ? "" : previous)
                && previousUntil != null
                && now.isBefore(previousUntil);
        return current || earlier;
    }

    Caller caller() {
        String shown = name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN);
        String of = tenant == null ? ")" : Tenancy.of(tenant);
        return new Caller("key " + shown + " (" + id + of, scopes, tenant, terms.bounds(), new Caller.Login(id, null));
    }

    /** Secrets are random and long, so one round of a fast hash is enough. */
    static String hash(String secret) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(secret.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256", e);
        }
    }

    private static boolean same(String a, String b) {
        return MessageDigest.isEqual(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }
}
