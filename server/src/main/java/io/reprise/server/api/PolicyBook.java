// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Policies by name: presets, and those stored. A stored policy has versions, each greater than the last; a job keeps the one
 * it was enqueued with.
 */
final class PolicyBook {

    static final String KIND = "policy";

    private final DocumentStore store;

    PolicyBook(DocumentStore store) {
        this.store = store;
    }

    /** A policy given as such or by its name. @throws IllegalArgumentException saying what is wrong */
    RetryPolicy resolve(JsonNode given, Tenancy tenancy) {
        if (given.isString()) {
            String name = given.stringValue();
            Optional<RetryPolicy> stored = named(name, tenancy);
            return stored.orElseGet(() -> Presets.get(name));
        }
        if (!given.isObject()) {
            throw new IllegalArgumentException("must be a policy or the name of one");
        }
        return RetryPolicy.fromJson(given.toString());
    }

    private Optional<RetryPolicy> named(String name, Tenancy tenancy) {
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}")) {
            return Optional.empty();
        }
        return store.document(KIND, tenancy.stored("policy", name)).map(PolicyBook::policy);
    }

    static RetryPolicy policy(Document document) {
        return RetryPolicy.fromJson(
                new Fields(Json.parse(document.json())).node("policy").toString());
    }
}
