// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.JobSpec;
import io.reprise.job.PayloadException;
import io.reprise.retry.RetryPolicy;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A kind of work: a stable name and the class of its payload, with the options that all its jobs share. The store keeps
 * the name, so you can rename or move the class as long as the name stays. Share one constant between the code that
 * enqueues and the code that handles. Immutable: each method returns a copy, checks its value at once, and the last
 * call of a method wins.
 *
 * <pre>{@code
 * JobType<Order> CHARGE = JobType.of("charge", Order.class).queue("payments").resource("acquirer");
 * }</pre>
 *
 * @param <P> class of the payload
 * @since 0.1.0
 */
public final class JobType<P> {

    private final Type payloadType;
    private final RetryPolicy policy;
    /** The options that a job of this type has unless it sets its own. */
    private final JobSpec options;

    private final boolean idempotent;
    private final Map<Integer, OlderPayload<P>> older;

    /** How payloads of an older version are read. */
    private record OlderPayload<P>(Type type, Function<Object, P> upcast) {}

    private JobType(
            Type payloadType,
            RetryPolicy policy,
            JobSpec options,
            boolean idempotent,
            Map<Integer, OlderPayload<P>> older) {
        this.payloadType = Objects.requireNonNull(payloadType, "payloadType");
        this.policy = Objects.requireNonNull(policy, "policy");
        this.options = options;
        this.idempotent = idempotent;
        this.older = older;
    }

    /**
     * Creates a type without a policy and without options.
     *
     * @param name stable name that is stored with each job
     * @param payloadType class that the codec reads payloads as
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     * @throws NullPointerException if {@code payloadType} is null
     */
    public static <P> JobType<P> of(String name, Class<P> payloadType) {
        return of(name, (Type) payloadType);
    }

    /**
     * Creates a type whose payload is generic, such as a list. The codec must be able to read such types; the codec of
     * {@code reprise-codec-jackson} is.
     *
     * @param name stable name that is stored with each job
     * @param payloadType type that the codec reads payloads as
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public static <P> JobType<P> of(String name, PayloadType<P> payloadType) {
        return of(name, payloadType.type());
    }

    private static <P> JobType<P> of(String name, Type payloadType) {
        return new JobType<>(
                payloadType, RetryPolicy.unset(), JobSpec.builder(name, "").build(), false, Map.of());
    }

    /**
     * Sets the retry policy of the type. It applies below the policy of the single job, and above those of resource,
     * queue and worker.
     *
     * @throws NullPointerException if {@code policy} is null
     */
    public JobType<P> retry(RetryPolicy policy) {
        return new JobType<>(payloadType, policy, options, idempotent, older);
    }

    /**
     * Sets the time limit of one run, unless the job sets its own. The default is no limit.
     *
     * @param timeout 1 ms to 36,500 days
     * @throws IllegalArgumentException if {@code timeout} is outside these bounds
     */
    public JobType<P> timeout(Duration timeout) {
        return with(builder -> builder.timeout(timeout));
    }

    /**
     * Sets the queue of the jobs, unless the job sets its own. The default is {@value JobSpec#DEFAULT_QUEUE}.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public JobType<P> queue(String name) {
        return with(builder -> builder.queue(name));
    }

    /**
     * Names the resource that jobs of this type call, unless the job names its own. The default is no resource.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public JobType<P> resource(String name) {
        return with(builder -> builder.resource(name));
    }

    /**
     * Sets the priority of the jobs, unless the job sets its own. The default is 0.
     *
     * @param level {@value JobSpec#MIN_PRIORITY} to {@value JobSpec#MAX_PRIORITY}
     * @throws IllegalArgumentException if {@code level} is outside these bounds
     */
    public JobType<P> priority(int level) {
        return with(builder -> builder.priority(level));
    }

    /**
     * Gives each job an idempotency key made of its type, version and payload, unless the job sets its own key. So a
     * repeated enqueue returns the first job, or its stored result by {@link Reprise#await}, for as long as that job is
     * kept. The order of members in the payload does not matter. The handler must still tolerate a second run: a worker
     * can die after the work and before the outcome is stored.
     */
    public JobType<P> idempotent() {
        return new JobType<>(payloadType, policy, options, true, older);
    }

    /**
     * Sets the version of the payload that this process writes. Raise it when older code could not read the payload, or
     * would read it wrongly. A worker that knows a lower version leaves such jobs to workers that know this one. It
     * reads older payloads with {@link #upcast}, or as they are.
     *
     * @param version 1 to {@value JobSpec#MAX_VERSION}; 1 unless set
     * @throws IllegalArgumentException if {@code version} is outside these bounds
     */
    public JobType<P> version(int version) {
        return with(builder -> builder.version(version));
    }

    /**
     * Reads payloads of an older version as another class and turns them into the payload of today. An older version
     * without this is read as today's class. If {@code how} throws, the job fails as UNREADABLE.
     *
     * @param from the older version, from 1
     * @param old class of the payloads of that version
     * @throws IllegalArgumentException if {@code from} is outside 1 to {@value JobSpec#MAX_VERSION}
     */
    public <O> JobType<P> upcast(int from, Class<O> old, Function<? super O, ? extends P> how) {
        return upcast(from, (Type) old, how);
    }

    /** Reads payloads of an older version as a generic type; see {@link #upcast(int, Class, Function)}. */
    public <O> JobType<P> upcast(int from, PayloadType<O> old, Function<? super O, ? extends P> how) {
        return upcast(from, old.type(), how);
    }

    private <O> JobType<P> upcast(int from, Type old, Function<? super O, ? extends P> how) {
        Objects.requireNonNull(how, "how");
        if (from < 1 || from > JobSpec.MAX_VERSION) {
            throw new IllegalArgumentException("from must be 1 to " + JobSpec.MAX_VERSION + ", not " + from);
        }
        // The codec returns an object of the type that stands beside the function.
        @SuppressWarnings("unchecked")
        Function<Object, P> upcast = value -> how.apply((O) value);
        Map<Integer, OlderPayload<P>> all = new HashMap<>(older);
        all.put(from, new OlderPayload<>(old, upcast));
        return new JobType<>(payloadType, policy, options, idempotent, Map.copyOf(all));
    }

    /**
     * Reads the payload of a stored job.
     *
     * @param json text of the payload, not sealed
     * @param version version of the payload
     * @throws PayloadException if it cannot be read
     */
    public P read(PayloadCodec codec, String json, int version) {
        OlderPayload<P> form = older.get(version);
        if (form != null && version < version()) {
            return Objects.requireNonNull(form.upcast.apply(codec.decode(json, form.type)), "upcast");
        }
        // The codec returns an object of the type that this was made with.
        @SuppressWarnings("unchecked")
        P payload = (P) codec.decode(json, payloadType);
        return payload;
    }

    /**
     * Creates a request for one job of this type. Nothing is stored until it is enqueued.
     *
     * @throws NullPointerException if {@code payload} is null
     */
    public JobRequest<P> job(P payload) {
        Objects.requireNonNull(payload, "payload");
        return new JobRequest<>(this, payload, options);
    }

    /**
     * Creates a request for each payload, in their order; see {@link #job}.
     *
     * @throws NullPointerException if a payload is null
     */
    public List<JobRequest<P>> jobs(Collection<? extends P> payloads) {
        List<JobRequest<P>> jobs = new ArrayList<>(payloads.size());
        payloads.forEach(payload -> jobs.add(job(payload)));
        return jobs;
    }

    /** Returns the stored name. */
    public String name() {
        return options.type();
    }

    /** Returns the version of the payload that this process writes, and the highest that it reads. */
    public int version() {
        return options.version();
    }

    /** Returns the class or generic type of the payload. */
    public Type payloadType() {
        return payloadType;
    }

    /** Returns the retry policy of the type; {@link RetryPolicy#unset} unless set. */
    public RetryPolicy policy() {
        return policy;
    }

    /** Returns the time limit of one run; null for no limit. */
    public @Nullable Duration timeout() {
        return options.timeout();
    }

    /** Returns the queue of jobs that set none. */
    public String queue() {
        return options.queue();
    }

    /** Returns the resource of jobs that name none; null for no resource. */
    public @Nullable String resource() {
        return options.resource();
    }

    /** Returns the priority of jobs that set none. */
    public int priority() {
        return options.priority();
    }

    /** Returns whether each job has an idempotency key made of its payload; see {@link #idempotent}. */
    public boolean isIdempotent() {
        return idempotent;
    }

    private JobType<P> with(UnaryOperator<JobSpec.Builder> option) {
        return new JobType<>(
                payloadType, policy, option.apply(options.toBuilder()).build(), idempotent, older);
    }

    @Override
    public String toString() {
        return "JobType[" + name() + "]";
    }
}
