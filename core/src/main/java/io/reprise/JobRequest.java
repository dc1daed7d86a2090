// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A job to be enqueued: a payload with options. Immutable: each method returns a copy, and refuses a bad value at once.
 *
 * <pre>{@code
 * reprise.enqueue(SEND.job(new Email("ada@example.org")).queue("mail").after(Duration.ofMinutes(1)));
 * }</pre>
 */
public final class JobRequest<P> {

    private final JobType<P> type;
    private final P payload;
    private final JobSpec options;

    JobRequest(JobType<P> type, P payload) {
        this(
                type,
                payload,
                JobSpec.builder(type.name(), "").timeout(type.timeout()).build());
    }

    private JobRequest(JobType<P> type, P payload, JobSpec options) {
        this.type = type;
        this.payload = payload;
        this.options = options;
    }

    public JobRequest<P> queue(String name) {
        return with(builder -> builder.queue(name));
    }

    /** Higher runs first: {@value JobSpec#MIN_PRIORITY} to {@value JobSpec#MAX_PRIORITY}, 0 unless set. */
    public JobRequest<P> priority(int level) {
        return with(builder -> builder.priority(level));
    }

    /** Due this long after it is stored, by the store's clock. */
    public JobRequest<P> after(Duration delay) {
        return with(builder -> builder.delay(delay));
    }

    /** Due at this time, by the store's clock; a time in the past means now. */
    public JobRequest<P> at(Instant due) {
        return with(builder -> builder.dueAt(due));
    }

    /** Holds a unique key while it lives; if a live job holds it already, that one is returned instead. */
    public JobRequest<P> key(String key) {
        return key(key, KeyRule.KEEP);
    }

    public JobRequest<P> key(String key, KeyRule rule) {
        return with(builder -> builder.key(key, rule));
    }

    /** Enqueueing again with the same key returns the first job, even a finished one, for as long as it is kept. */
    public JobRequest<P> idempotencyKey(String key) {
        return with(builder -> builder.idempotencyKey(key));
    }

    /**
     * The same for one request only: enqueueing again with the key and another proof is refused by a {@link KeyReusedException}.
     *
     * @param proof unique to the key and the request, such as a hash of both
     */
    public JobRequest<P> idempotencyKey(String key, String proof) {
        return with(builder -> builder.idempotencyKey(key, proof));
    }

    /** Fields set here stand above those of the type, the queue and the worker. */
    public JobRequest<P> retry(RetryPolicy policy) {
        return with(builder -> builder.policy(policy));
    }

    /** How long one run may take before its handler is interrupted. */
    public JobRequest<P> timeout(Duration limit) {
        return with(builder -> builder.timeout(limit));
    }

    /** The downstream thing this job calls. */
    public JobRequest<P> resource(String name) {
        return with(builder -> builder.resource(name));
    }

    public JobRequest<P> tags(String... tags) {
        return with(builder -> builder.tags(Set.copyOf(List.of(tags))));
    }

    public JobType<P> type() {
        return type;
    }

    /** As it will be stored, but for the layers of the policy, which the caller of this adds. */
    JobSpec toSpec(PayloadCodec codec) {
        String json;
        try {
            json = codec.seal(codec.encode(payload));
        } catch (PayloadException e) {
            throw new PayloadException("Cannot enqueue a '" + type.name() + "' job: " + e.getMessage(), e);
        }
        return options.toBuilder().payload(json).build();
    }

    private JobRequest<P> with(UnaryOperator<JobSpec.Builder> option) {
        return new JobRequest<>(type, payload, option.apply(options.toBuilder()).build());
    }
}
