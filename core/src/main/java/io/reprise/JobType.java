// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A kind of work: a stable name and the class of its payload. The name is what is stored, so a class may be renamed or
 * moved freely while the name stays. Share one constant between those who enqueue and those who handle.
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

    public static <P> JobType<P> of(String name, Class<P> payloadType) {
        return new JobType<>(name, payloadType, RetryPolicy.unset(), null);
    }

    /** The same type with its own policy: it stands above those of queue and worker, below that of the single job. */
    public JobType<P> retry(RetryPolicy policy) {
        return new JobType<>(name, payloadType, policy, timeout);
    }

    /** The same type with a limit on the length of one run, unless the job sets its own. */
    public JobType<P> timeout(Duration timeout) {
        return new JobType<>(name, payloadType, policy, timeout);
    }

    /** Asks for one piece of this work. */
    public JobRequest<P> job(P payload) {
        return new JobRequest<>(this, payload);
    }

    public String name() {
        return name;
    }

    public Class<P> payloadType() {
        return payloadType;
    }

    public RetryPolicy policy() {
        return policy;
    }

    public @Nullable Duration timeout() {
        return timeout;
    }

    @Override
    public String toString() {
        return "JobType[" + name + "]";
    }
}
