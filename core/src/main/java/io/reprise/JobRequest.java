// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.insight.TraceParent;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.job.PayloadException;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
    private final List<Follower> followers;

    /**
     * A job that follows this one.
     *
     * @param whenDead whether it follows the dead letter; otherwise it follows the success
     */
    record Follower(boolean whenDead, JobRequest<?> job) {}

    JobRequest(JobType<P> type, P payload, JobSpec options) {
        this(type, payload, options, List.of());
    }

    private JobRequest(JobType<P> type, P payload, JobSpec options, List<Follower> followers) {
        this.type = type;
        this.payload = payload;
        this.options = options;
        this.followers = followers;
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
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL and half surrogate pairs
     * @throws IllegalArgumentException if {@code key} does not have this form
     */
    public JobRequest<P> key(String key) {
        return key(key, KeyRule.KEEP);
    }

    /**
     * Sets a unique key, and the rule that applies if a live job holds the key. The job holds the key until it ends.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL and half surrogate pairs
     * @throws IllegalArgumentException if {@code key} does not have this form
     */
    public JobRequest<P> key(String key, KeyRule rule) {
        return with(builder -> builder.key(key, rule));
    }

    /**
     * Sets a unique key that debounces: as long as a job with this key waits, each new request takes its place and
     * moves its due time, but not beyond {@code atLatest} after the first request. So requests that keep coming cannot
     * put the job off for ever. The rule is {@link KeyRule#REPLACE}. Combine it with {@link #after}.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL and half surrogate pairs
     * @param atLatest 0 to 36,500 days
     * @throws IllegalArgumentException if {@code key} or {@code atLatest} does not have this form
     */
    public JobRequest<P> debounce(String key, Duration atLatest) {
        return with(builder -> builder.key(key, KeyRule.REPLACE).atLatest(atLatest));
    }

    /**
     * Sets an idempotency key: enqueueing a job of the same type again with the same key returns the first job, even a
     * finished one, while that job is kept. Other types may use the same key for jobs of their own. Replaces a proof
     * that was set before.
     *
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL and half surrogate pairs
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
     * @param key 1 to {@value JobSpec#MAX_KEY} characters, not blank, without NUL and half surrogate pairs
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
     * Names what this job needs of its worker, such as {@code gpu} or {@code eu}: only workers that offer all of it run
     * the job. Such jobs wait in a queue of their own beside the one that they name; see {@link Needs}. The default is
     * nothing.
     *
     * @throws IllegalArgumentException if a label is refused, there are too many, or the names together are too long
     * @see RepriseBuilder#offers
     */
    public JobRequest<P> needs(String... labels) {
        return with(builder -> builder.needs(List.of(labels)));
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
     * Sets the tags, by which jobs can be found. Replaces all tags that were set before, but not the version of the
     * payload; duplicates count once.
     *
     * @param tags at most {@value JobSpec#MAX_TAGS}; one less if the payload has a version above 1
     * @throws IllegalArgumentException if there are more tags, or a tag does not have the form of
     *     {@link JobSpec#requireName}
     */
    public JobRequest<P> tags(String... tags) {
        return with(builder -> builder.tags(Set.copyOf(List.of(tags))).version(options.version()));
    }

    /**
     * Adds the trace in which the job is enqueued, as a tag beside those that were set before. A job that has
     * {@value JobSpec#MAX_TAGS} tags stays as it is.
     */
    public JobRequest<P> trace(TraceParent trace) {
        return new JobRequest<>(type, payload, trace.addTo(options), followers);
    }

    /**
     * Adds a job that is stored when this one succeeds, in the same atomic step. Several calls add several jobs; they
     * may run at the same time. A job that follows can be followed itself. It finds the id of this job in
     * {@link JobContext#predecessor}. Its delay counts from the success.
     *
     * <p>The chain is stored with this job, so it survives a deploy. It has at most 100 jobs at all levels, and
     * {@value JobSpec#MAX_PAYLOAD_BYTES} bytes; {@link Reprise#enqueue} refuses more.
     *
     * @param next a job whose unique key, if any, has {@link KeyRule#KEEP}
     */
    public JobRequest<P> then(JobRequest<?> next) {
        return followedBy(new Follower(false, next));
    }

    /**
     * Adds a job that is stored when this one becomes a dead letter, in the same atomic step; see {@link #then}. It is
     * stored at each such end: a job that a person retries can become a dead letter again. A cancelled job is followed
     * by none.
     *
     * @param next a job whose unique key, if any, has {@link KeyRule#KEEP}
     */
    public JobRequest<P> whenDead(JobRequest<?> next) {
        return followedBy(new Follower(true, next));
    }

    private JobRequest<P> followedBy(Follower next) {
        List<Follower> all = new ArrayList<>(followers);
        all.add(next);
        return new JobRequest<>(type, payload, options, List.copyOf(all));
    }

    /** Returns the jobs that follow this one directly. */
    List<Follower> followers() {
        return followers;
    }

    /**
     * Sets the version of the payload. The default is that of the {@link JobType}. Only code that passes on payloads of
     * others needs it.
     *
     * @param version 1 to {@value JobSpec#MAX_VERSION}
     * @throws IllegalArgumentException if {@code version} is outside these bounds, or the job has too many tags
     */
    public JobRequest<P> version(int version) {
        return with(builder -> builder.version(version));
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
                spec.idempotencyKey(ContentKey.of(type.name(), options.version(), json));
            }
            return spec.build();
        } catch (PayloadException e) {
            throw new PayloadException("Cannot enqueue a '" + type.name() + "' job: " + e.getMessage(), e);
        }
    }

    private JobRequest<P> with(UnaryOperator<JobSpec.Builder> option) {
        return new JobRequest<>(type, payload, option.apply(options.toBuilder()).build(), followers);
    }
}
