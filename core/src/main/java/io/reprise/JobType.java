// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A kind of work: a stable name and the class of its payload. The store keeps the name, so you can rename or move the
 * class as long as the name stays. Share one constant between the code that enqueues and the code that handles.
 * Immutable: each method returns a copy, and the last call of a method wins.
 *
 * @param <P> class of the payload
 * @since 0.1.0
 */
public final class JobType<P> {

    private final String name;
    private final Class<P> payloadType;
    private final RetryPolicy policy;
    private final @Nullable Duration timeout;

    private JobType(String name, Class<P> payloadType, RetryPolicy policy, @Nullable Duration timeout) {
        this.name = JobSpec.requireName("type", name);
        this.payloadType = payloadType;
        this.policy = policy;
        this.timeout = timeout;
    }

    /**
     * Creates a type without a policy and without a timeout.
     *
     * @param name stable name that is stored with each job
     * @param payloadType class that the codec reads payloads as
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public static <P> JobType<P> of(String name, Class<P> payloadType) {
        return new JobType<>(name, payloadType, RetryPolicy.unset(), null);
    }

    /**
     * Sets the retry policy of the type. It applies below the policy of the single job, and above those of resource,
     * queue and worker.
     */
    public JobType<P> retry(RetryPolicy policy) {
        return new JobType<>(name, payloadType, policy, timeout);
    }

    /**
     * Sets the time limit of one run, unless the job sets its own. The default is no limit. The bounds, 1 ms to 36,500
     * days, are checked by {@link #job}.
     */
    public JobType<P> timeout(Duration timeout) {
        return new JobType<>(name, payloadType, policy, timeout);
    }

    /**
     * Creates a request for one job of this type. Nothing is stored until it is enqueued.
     *
     * @throws IllegalArgumentException if the timeout of this type is outside its bounds
     */
    public JobRequest<P> job(P payload) {
        return new JobRequest<>(this, payload);
    }

    /** Returns the stored name. */
    public String name() {
        return name;
    }

    /** Returns the class of the payload. */
    public Class<P> payloadType() {
        return payloadType;
    }

    /** Returns the retry policy of the type; {@link RetryPolicy#unset} unless set. */
    public RetryPolicy policy() {
        return policy;
    }

    /** Returns the time limit of one run; null for no limit. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    @Override
    public String toString() {
        return "JobType[" + name + "]";
    }
}
