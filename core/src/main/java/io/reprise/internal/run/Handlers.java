// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.retry.RetryPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The handlers of a worker by type name. {@code RepriseBuilder} fills it before the start. Later it does not change, so
 * the {@code Runner}, the {@code Fetcher} and the {@code Decider} read it from any thread.
 */
public final class Handlers {

    /** A job type with its handler. */
    public record Entry<P>(JobType<P> type, JobHandler<P> handler) {}

    private final Map<String, Entry<?>> entries = new HashMap<>();

    /**
     * Registers a handler.
     *
     * @throws IllegalArgumentException if the type already has a handler
     */
    public <P> void add(JobType<P> type, JobHandler<P> handler) {
        if (entries.putIfAbsent(type.name(), new Entry<>(type, handler)) != null) {
            throw new IllegalArgumentException(
                    "Job type '" + type.name() + "' has a handler already: register one only");
        }
    }

    /** Returns the names of the types, sorted. */
    public List<String> types() {
        return entries.keySet().stream().sorted().toList();
    }

    @Nullable
    Entry<?> find(String type) {
        return entries.get(type);
    }

    /** Returns the policies of all types. */
    public List<RetryPolicy> policies() {
        return entries.values().stream().map(entry -> entry.type().policy()).toList();
    }

    /** Returns the policy of the type; an unset policy if there is no handler. */
    public RetryPolicy policy(String type) {
        Entry<?> entry = entries.get(type);
        return entry == null ? RetryPolicy.unset() : entry.type().policy();
    }
}
