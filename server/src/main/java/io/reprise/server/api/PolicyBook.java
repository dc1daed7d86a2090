// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.config.PolicyErrors;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Problem.FieldError;
import io.reprise.settings.SettingsBook;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Policies by name: presets and stored ones. A stored policy has growing versions. A job keeps the
 * version it was enqueued with.
 */
public final class PolicyBook {

    static final String KIND = "policy";

    private static final int MAX_SHOWN = 100;

    private final DocumentStore store;

    public PolicyBook(DocumentStore store) {
        this.store = store;
    }

    /**
     * Resolves a policy that is given in full or by name.
     *
     * @param at JSON pointer of the policy in the request
     * @throws Problem naming every error
     */
    public RetryPolicy resolve(String at, JsonNode given, Tenancy tenancy) {
        if (given.isString()) {
            String name = given.stringValue();
            return named(name, tenancy).or(() -> preset(name)).orElseThrow(() -> Problem.invalid(at, unknown(name)));
        }
        return read(at, given);
    }

    /**
     * Checks a policy that somebody wants to store, or to give to waiting jobs.
     *
     * @throws IllegalArgumentException if it names a number above a stored ceiling; see {@link SettingsBook}
     */
    RetryPolicy requireWithin(String what, RetryPolicy policy) {
        new SettingsBook(store).requireWithin(what, policy);
        return policy;
    }

    /**
     * Reads a policy that is given in full.
     *
     * @throws Problem naming every error
     */
    static RetryPolicy read(String at, JsonNode given) {
        if (!given.isObject()) {
            throw Problem.invalid(at, "must be a policy or the name of one");
        }
        String json = given.toString();
        List<FieldError> errors = PolicyErrors.in(json).stream()
                .map(error -> new FieldError(error.field() == null ? at : at + "/" + error.field(), error.message()))
                .toList();
        if (!errors.isEmpty()) {
            throw Problem.invalid(errors);
        }
        return RetryPolicy.fromJson(json);
    }

    private static Optional<RetryPolicy> preset(String name) {
        return Presets.names().contains(name) ? Optional.of(Presets.get(name)) : Optional.empty();
    }

    private static String unknown(String name) {
        return "there is no stored policy '" + (name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN) + "…")
                + "', nor a preset; presets are " + String.join(", ", Presets.names());
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
