// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.PayloadCodec;
import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.server.auth.StoreSecret;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Json;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stored subscriptions, and a copy in memory, as old as the last {@link #refresh}, for callers that
 * cannot wait. Thread-safe.
 */
final class Subscriptions {

    static final int MAX = 1_000;

    private static final Logger log = LoggerFactory.getLogger("io.reprise.webhook");
    private static final String KIND = "webhook";
    private static final int INSTALLATION_LENGTH = 8;

    /** A subscription with its version. */
    record Versioned(Subscription subscription, long version) {}

    private final DocumentStore store;
    private final PayloadCodec codec;
    private volatile List<Subscription> known = List.of();
    private volatile @Nullable String installation;

    Subscriptions(DocumentStore store, PayloadCodec codec) {
        this.store = store;
        this.codec = codec;
    }

    /** Returns a short text that tells this store from all others. It is no secret, and stays the same. */
    String installation() {
        String text = installation;
        if (text == null) {
            text = StoreSecret.of(store).mark("installation").substring(0, INSTALLATION_LENGTH);
            installation = text;
        }
        return text;
    }

    /** Returns the subscriptions of the last refresh. */
    List<Subscription> known() {
        return known;
    }

    /** Reads the subscriptions again. If the store does not answer, the copy stays. */
    void refresh() {
        try {
            known = all().stream().map(Versioned::subscription).toList();
        } catch (RuntimeException e) {
            log.warn("Webhook subscriptions could not be read; those known go on: {}", e.toString());
        }
    }

    List<Versioned> all() {
        Page<Document> page = store.documents(KIND, MAX, null);
        List<Versioned> all = new ArrayList<>();
        for (Document document : page.items()) {
            all.add(new Versioned(read(document), document.version()));
        }
        return all;
    }

    Optional<Versioned> find(String id) {
        return store.document(KIND, id).map(document -> new Versioned(read(document), document.version()));
    }

    /** Adds a subscription. Returns false if the id exists. */
    boolean add(Subscription subscription, AuditNote note) {
        boolean added = store.putDocument(
                        document(subscription, 0), "create", note.changing(Json.change(null, told(subscription))))
                .isPresent();
        refresh();
        return added;
    }

    /** Changes a subscription, and tries again if another writer was faster. Returns empty if there is none. */
    Optional<Subscription> change(String id, UnaryOperator<Subscription> change, String action, AuditNote note) {
        while (true) {
            Optional<Versioned> found = find(id);
            if (found.isEmpty()) {
                return Optional.empty();
            }
            Subscription changed = change.apply(found.get().subscription());
            String what = Json.change(told(found.get().subscription()), told(changed));
            if (store.putDocument(document(changed, found.get().version()), action, note.changing(what))
                    .isPresent()) {
                refresh();
                return Optional.of(changed);
            }
        }
    }

    void remove(String id, AuditNote note) {
        Optional<Document> found = store.document(KIND, id);
        while (found.isPresent() && !store.removeDocument(found.get(), "delete", note)) {
            found = store.document(KIND, id);
        }
        refresh();
    }

    /** Returns the fields for the audit log, without headers and secrets. */
    private static Map<String, @Nullable Object> told(Subscription subscription) {
        Map<String, @Nullable Object> told = new LinkedHashMap<>();
        told.put("url", subscription.url());
        told.put("description", subscription.description());
        told.put("filter", subscription.filter());
        told.put("disabled", subscription.disabled());
        told.put("batch", subscription.batch());
        told.put("retry", subscription.retry() == null ? null : Json.parse(subscription.retry()));
        return told;
    }

    /** Returns the stored form of a header's value: encrypted if the server has keys. */
    String seal(String value) {
        String sealed = codec.seal(Json.text(value));
        return sealed.startsWith(PayloadCodec.SEALED) ? sealed : value;
    }

    /** Returns the headers as they are sent. */
    Map<String, String> headers(Subscription subscription) {
        Map<String, String> headers = new LinkedHashMap<>();
        subscription
                .headers()
                .forEach((name, kept) -> headers.put(
                        name,
                        kept.startsWith(PayloadCodec.SEALED)
                                ? Json.parse(codec.open(kept)).stringValue()
                                : kept));
        return headers;
    }

    String seal(SigningSecret secret) {
        return codec.seal(Json.text(secret.reveal()));
    }

    /** Returns the secrets that sign now. */
    List<SigningSecret> secrets(Subscription subscription, Instant now) {
        return subscription.signing(now).stream()
                .map(kept -> Json.parse(codec.open(kept)).stringValue())
                .map(SigningSecret::parse)
                .toList();
    }

    private static Document document(Subscription subscription, long version) {
        return new Document(KIND, subscription.id(), version, Json.text(subscription));
    }

    private static Subscription read(Document document) {
        return Json.read(document.json(), Subscription.class);
    }
}
