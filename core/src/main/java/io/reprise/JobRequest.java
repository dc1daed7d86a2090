// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.insight.TraceParent;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.job.PayloadException;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A job to be enqueued: a payload with options. Created by {@link JobType#job}. Immutable: each method returns a copy,
 * checks its value at once, and the last call of a method wins.
 *
 * <pre>{@code
 * reprise.enqueue(SEND.job(new Email("ada@example.org")).queue("mail").after(Duration.ofMinutes(1)));
 * }</pre>
 *
 * @param <P> class of the payload
 * @since 0.1.0
 */
public final class JobRequest<P> {

    private final JobType<P> type;
    private final P payload;
    private final JobSpec options;

    JobRequest(JobType<P> type, P payload, JobSpec options) {
        this.type = type;
        this.payload = payload;
        this.options = options;
    }

    /**
     * Sets the queue. The default is the queue of the {@link JobType}, {@value JobSpec#DEFAULT_QUEUE} unless set.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public JobRequest<P> queue(String name) {
        return with(builder -> builder.queue(name));
    }

    /**
     * Sets the priority. Within a queue, jobs of higher priority run first. The default is that of the
     * {@link JobType}, 0 unless set.
     *
     * @param level {@value JobSpec#MIN_PRIORITY} to {@value JobSpec#MAX_PRIORITY}
     * @throws IllegalArgumentException if {@code level} is outside these bounds
     */
    public JobRequest<P> priority(int level) {
        return with(builder -> builder.priority(level));
    }

    /**
     * Makes the job due this long after it is stored, by the store's clock. The default is zero. Replaces {@link #at}.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     */
    public JobRequest<P> after(Duration delay) {
        return with(builder -> builder.delay(delay));
    }

    /** Makes the job due at this time, by the store's clock. A time in the past means now. Replaces {@link #after}. */
    public JobRequest<P> at(Instant due) {
        return with(builder -> builder.dueAt(due));
    }

    /**
     * Sets a unique key with {@link KeyRule#KEEP}: if a live job holds the key, enqueueing returns the id of that job
     * and stores nothing. The job holds the key until it ends.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL
     * @throws IllegalArgumentException if {@code key} does not have this form
     */
    public JobRequest<P> key(String key) {
        return key(key, KeyRule.KEEP);
    }

    /**
     * Sets a unique key, and the rule that applies if a live job holds the key. The job holds the key until it ends.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL
     * @throws IllegalArgumentException if {@code key} does not have this form
     */
    public JobRequest<P> key(String key, KeyRule rule) {
        return with(builder -> builder.key(key, rule));
    }

    /**
     * Sets an idempotency key: enqueueing a job of the same type again with the same key returns the first job, even a
     * finished one, while that job is kept. Other types may use the same key for jobs of their own. Replaces a proof
     * that was set before.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL
     * @throws IllegalArgumentException if {@code key} does not have this form
     */
    public JobRequest<P> idempotencyKey(String key) {
        // The first call checks the caller's own key.
        return with(builder -> builder.idempotencyKey(key).idempotencyKey(ContentKey.scoped(type.name(), key)));
    }

    /**
     * Sets an idempotency key for one request only, whatever the type of its job: enqueueing with the same key and
     * another proof throws {@link KeyReusedException}.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL
     * @param proof unique to the key and the request, such as a hash of both; same form as the key
     * @throws IllegalArgumentException if {@code key} or {@code proof} does not have this form
     */
    public JobRequest<P> idempotencyKey(String key, String proof) {
        return with(builder -> builder.idempotencyKey(key, proof));
    }

    /**
     * Sets the retry policy of this job. Fields that it sets take precedence over type, resource, queue and worker, in
     * that order.
     */
    public JobRequest<P> retry(RetryPolicy policy) {
        return with(builder -> builder.policy(policy));
    }

    /**
     * Limits the time of one run. After it the handler is interrupted and the attempt fails as TIMEOUT. The default is
     * the timeout of the {@link JobType}; without either there is no limit.
     *
     * @param limit 1 ms to 36,500 days
     * @throws IllegalArgumentException if {@code limit} is outside these bounds
     */
    public JobRequest<P> timeout(Duration limit) {
        return with(builder -> builder.timeout(limit));
    }

    /**
     * Names the resource: the downstream system that this job calls. It selects breaker, budget and retry policy. The
     * default is the resource of the {@link JobType}; without either there is none.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public JobRequest<P> resource(String name) {
        return with(builder -> builder.resource(name));
    }

    /**
     * Names the group of this job, such as a tenant. Within a queue and a priority, groups take turns: a group with a
     * million waiting jobs delays the others by its own turns only. Jobs without a group share one turn. The default
     * is none.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public JobRequest<P> group(String name) {
        return with(builder -> builder.group(name));
    }

    /**
     * Sets the tags, by which jobs can be found. Replaces all tags that were set before; duplicates count once.
     *
     * @param tags at most {@value JobSpec#MAX_TAGS}
     * @throws IllegalArgumentException if there are more tags, or a tag does not have the form of
     *     {@link JobSpec#requireName}
     */
    public JobRequest<P> tags(String... tags) {
        return with(builder -> builder.tags(Set.copyOf(List.of(tags))));
    }

    /**
     * Adds the trace in which the job is enqueued, as a tag beside those that were set before. A job that has
     * {@value JobSpec#MAX_TAGS} tags stays as it is.
     */
    public JobRequest<P> trace(TraceParent trace) {
        return new JobRequest<>(type, payload, trace.addTo(options));
    }

    /** Returns the type of the job. */
    public JobType<P> type() {
        return type;
    }

    /** Returns the spec to store. The caller adds the lower layers of the policy. */
    JobSpec toSpec(PayloadCodec codec) {
        try {
            String json = codec.encode(payload);
            JobSpec.Builder spec = options.toBuilder().payload(codec.seal(json));
            if (type.isIdempotent() && options.idempotencyKey() == null) {
                spec.idempotencyKey(ContentKey.of(type.name(), json));
            }
            return spec.build();
        } catch (PayloadException e) {
            throw new PayloadException("Cannot enqueue a '" + type.name() + "' job: " + e.getMessage(), e);
        }
    }

    private JobRequest<P> with(UnaryOperator<JobSpec.Builder> option) {
        return new JobRequest<>(type, payload, option.apply(options.toBuilder()).build());
    }
}
