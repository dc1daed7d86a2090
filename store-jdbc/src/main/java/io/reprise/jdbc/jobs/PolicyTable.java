// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.retry.RetryPolicy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores each retry policy once in {@code reprise_policy}; jobs refer to it by a hash. Thread-safe. */
public final class PolicyTable {

    private static final Logger log = LoggerFactory.getLogger(PolicyTable.class);

    /** Far more than a program has. A program that makes a policy per job loses the cache, not correctness. */
    private static final int MAX_CACHED = 10_000;

    // Idempotent by its key: equal policies have equal rows.
    private static final String STORE = """
            insert into reprise_policy (id, json)
            values (?, ?)
            """;

    private final Map<RetryPolicy, Long> ids = new ConcurrentHashMap<>();
    private final Map<Long, RetryPolicy> policies = new ConcurrentHashMap<>();
    private final Set<Long> stored = ConcurrentHashMap.newKeySet();
    private final Set<Long> unreadable = ConcurrentHashMap.newKeySet();

    /** Returns the id to store with a job; null for the policy that sets nothing. */
    @Nullable
    Long id(RetryPolicy policy) {
        Long known = ids.get(policy);
        if (known != null) {
            return known;
        }
        if (policy.equals(RetryPolicy.unset())) {
            return null;
        }
        bound();
        return ids.computeIfAbsent(policy, p -> hash(p.toJson()));
    }

    /**
     * Stores the missing ones of these policies. After the commit the caller calls {@link #committed}.
     *
     * @return how many were there already
     */
    int store(Session session, Collection<RetryPolicy> used) throws SQLException {
        // In the order of their ids, so that two transactions with the same policies do not deadlock.
        Map<Long, String> missing = new TreeMap<>();
        for (RetryPolicy policy : used) {
            Long id = id(policy);
            if (id != null && !stored.contains(id)) {
                missing.put(id, policy.toJson());
            }
        }
        int found = missing.size();
        for (Map.Entry<Long, String> policy : missing.entrySet()) {
            found -= session.dialect().insertUnlessThere(session, STORE, policy.getKey(), policy.getValue());
        }
        return found;
    }

    /** Stores policies in a transaction of their own, unless they are known to be stored. */
    public void storeAhead(Database database, Collection<RetryPolicy> used) {
        if (!areStored(used)) {
            database.send("store policies", found -> found > 0, session -> store(session, used));
            committed(used);
        }
    }

    private boolean areStored(Collection<RetryPolicy> used) {
        return used.stream().map(this::id).allMatch(id -> id == null || stored.contains(id));
    }

    public void committed(Collection<RetryPolicy> used) {
        for (RetryPolicy policy : used) {
            Long id = id(policy);
            if (id != null) {
                stored.add(id);
            }
        }
    }

    /** Returns the policy of an id. A policy that this version cannot read counts as one that sets nothing. */
    RetryPolicy find(Session session, @Nullable Long id) throws SQLException {
        if (id == null) {
            return RetryPolicy.unset();
        }
        RetryPolicy known = policies.get(id);
        if (known != null) {
            return known;
        }
        Optional<String> json = session.first("select json from reprise_policy where id = ?", SqlRow::text, id);
        try {
            RetryPolicy policy = RetryPolicy.fromJson(json.orElseThrow());
            bound();
            policies.put(id, policy);
            return policy;
        } catch (RuntimeException e) {
            // A claimed job must run, or it would never be settled.
            bound();
            if (unreadable.add(id)) {
                log.warn(
                        "Retry policy {} cannot be read by this version and is ignored; its jobs follow the worker's own"
                                + " policies: {}",
                        id,
                        e.getMessage());
            }
            return RetryPolicy.unset();
        }
    }

    private void bound() {
        for (Map<?, ?> cache : List.of(ids, policies)) {
            if (cache.size() > MAX_CACHED) {
                cache.clear();
            }
        }
        for (Set<?> cache : List.of(stored, unreadable)) {
            if (cache.size() > MAX_CACHED) {
                cache.clear();
            }
        }
    }

    private static long hash(String json) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(json.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
