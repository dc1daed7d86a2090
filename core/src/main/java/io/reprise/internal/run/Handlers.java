// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.RetryAdvisor;
import io.reprise.job.JobSpec;
import io.reprise.job.WorkerReport;
import io.reprise.retry.RetryPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The handlers of a worker by type name. {@code RepriseBuilder} fills it before the start. Later it does not change, so
 * the {@code Runner}, the {@code Fetcher} and the {@code Decider} read it from any thread.
 */
public final class Handlers {

    /** A job type with its handler. */
    public record Entry<P>(JobType<P> type, JobHandler<P> handler) {

        /** Whether this worker can read payloads of this version. */
        boolean knows(int version) {
            return version <= type.version();
        }

        /** Reads a stored payload as the type of the payload. */
        P decode(PayloadCodec codec, JobSpec spec) {
            return type.read(codec, codec.open(spec.payload()), spec.version());
        }
    }

    private final Map<String, Entry<?>> entries = new HashMap<>();
    private boolean fixed;
    private final Map<String, RetryAdvisor> advisors = new HashMap<>();
    private @Nullable RetryAdvisor advisor;

    /**
     * Registers a handler.
     *
     * @throws IllegalArgumentException if the type already has a handler
     * @throws IllegalStateException if the worker has started
     */
    public <P> void add(JobType<P> type, JobHandler<P> handler) {
        if (fixed) {
            throw new IllegalStateException(
                    "The worker has started: register the handler of '" + type.name() + "' before");
        }
        Objects.requireNonNull(handler, "handler");
        if (entries.putIfAbsent(type.name(), new Entry<>(type, handler)) != null) {
            throw new IllegalArgumentException(
                    "Job type '" + type.name() + "' has a handler already: register one only");
        }
    }

    /** Called when a worker starts, whose threads read the handlers without a lock. */
    public void fix() {
        fixed = true;
    }

    public boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Sets the advisor of all types that have none of their own. */
    public void advisor(RetryAdvisor advisor) {
        this.advisor = Objects.requireNonNull(advisor, "advisor");
    }

    /** Sets the advisor of one type. */
    public void advisor(String type, RetryAdvisor advisor) {
        advisors.put(type, Objects.requireNonNull(advisor, "advisor"));
    }

    /** Returns the advisor of a type; null if there is none. */
    public @Nullable RetryAdvisor advisor(String type) {
        RetryAdvisor own = advisors.get(type);
        return own == null ? advisor : own;
    }

    /** Returns the names of the types, sorted. */
    public List<String> types() {
        return entries.keySet().stream().sorted().toList();
    }

    /** Returns what the worker reports: the names of the types, and those with the version that it knows. */
    public List<String> known() {
        return entries.values().stream()
                .map(Entry::type)
                .flatMap(type -> Stream.of(type.name(), WorkerReport.versioned(type.name(), type.version())))
                .distinct()
                .sorted()
                .toList();
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
