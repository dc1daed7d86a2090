// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.PayloadCodec;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Json;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import io.reprise.store.Note;
import io.reprise.store.Page;
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
 * The subscriptions as they are stored, and a copy in memory for those who cannot wait, as old as the last
 * {@link #refresh}. Thread-safe.
 */
final class Subscriptions {

    static final int MAX = 1_000;

    private static final Logger log = LoggerFactory.getLogger("io.reprise.webhook");
    private static final String KIND = "webhook";

    /** A subscription with the version it was read in. */
    record Versioned(Subscription subscription, long version) {}

    private final DocumentStore store;
    private final PayloadCodec codec;
    private volatile List<Subscription> known = List.of();

    Subscriptions(DocumentStore store, PayloadCodec codec) {
        this.store = store;
        this.codec = codec;
    }

    /** As of the last refresh. */
    List<Subscription> known() {
        return known;
    }

    /** Reads them anew. A store that does not answer leaves things as they are. */
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

    /** False if there is one of this id. */
    boolean add(Subscription subscription, Note note) {
        boolean added = store.putDocument(
                        document(subscription, 0), "create", note.changing(Json.change(null, told(subscription))))
                .isPresent();
        refresh();
        return added;
    }

    /** Changes a subscription; repeated as long as somebody else is faster. Empty if there is none. */
    Optional<Subscription> change(String id, UnaryOperator<Subscription> change, String action, Note note) {
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

    void remove(String id, Note note) {
        Optional<Document> found = store.document(KIND, id);
        while (found.isPresent() && !store.removeDocument(found.get(), "delete", note)) {
            found = store.document(KIND, id);
        }
        refresh();
    }

    /** What the audit log may know: no headers, no secrets. */
    private static Map<String, @Nullable Object> told(Subscription subscription) {
        Map<String, @Nullable Object> told = new LinkedHashMap<>();
        told.put("url", subscription.url());
        told.put("description", subscription.description());
        told.put("filter", subscription.filter());
        told.put("disabled", subscription.disabled());
        return told;
    }

    /** The value of a header as it is stored: encrypted if the server has keys. */
    String seal(String value) {
        String sealed = codec.seal(Json.text(value));
        return sealed.startsWith(PayloadCodec.SEALED) ? sealed : value;
    }

    /** Headers as they are sent. */
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

    /** The secrets that sign now. */
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
