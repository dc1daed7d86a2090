// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A named step of a handler, with the class of its result. A handler runs it by {@code JobContext.step}. A step whose
 * result is stored is not run again for that job. Immutable.
 *
 * <pre>{@code
 * static final Step<Payment> CHARGE = Step.of("charge", Payment.class).resource("stripe").timeout(Duration.ofSeconds(30));
 * }</pre>
 *
 * @param <T> the result
 * @since 0.1.0
 */
public final class Step<T> {

    private final String name;
    private final Class<T> type;
    private final RetryPolicy policy;
    private final @Nullable String resource;
    private final @Nullable Duration timeout;
    private final boolean atMostOnce;

    private Step(
            String name,
            Class<T> type,
            RetryPolicy policy,
            @Nullable String resource,
            @Nullable Duration timeout,
            boolean atMostOnce) {
        this.name = name;
        this.type = type;
        this.policy = policy;
        this.resource = resource;
        this.timeout = timeout;
        this.atMostOnce = atMostOnce;
    }

    /**
     * Creates a step.
     *
     * @param name identity of the step within a job, with the form of {@link JobSpec#requireName}
     * @param type class of the result; {@link Void} if there is none
     * @throws IllegalArgumentException if {@code name} does not have that form
     */
    public static <T> Step<T> of(String name, Class<T> type) {
        return new Step<>(JobSpec.requireName("step", name), type, RetryPolicy.unset(), null, null, false);
    }

    /**
     * Creates a step without a result.
     *
     * @param name identity of the step within a job, with the form of {@link JobSpec#requireName}
     * @throws IllegalArgumentException if {@code name} does not have that form
     */
    public static Step<Void> of(String name) {
        return of(name, Void.class);
    }

    /** Returns the step with this policy. Fields that it leaves unset come from the job. The last call wins. */
    public Step<T> retry(RetryPolicy policy) {
        return new Step<>(name, type, policy, resource, timeout, atMostOnce);
    }

    /**
     * Returns the step with a resource: its breaker may hold the step back, and its budget pays for retries. The last
     * call wins.
     *
     * @throws IllegalArgumentException if {@code resource} does not have the form of {@link JobSpec#requireName}
     */
    public Step<T> resource(String resource) {
        return new Step<>(name, type, policy, JobSpec.requireName("resource", resource), timeout, atMostOnce);
    }

    /**
     * Returns the step with a limit for each run of it. The timeout of the job limits the whole run beside it.
     *
     * @throws IllegalArgumentException if {@code timeout} is not positive
     */
    public Step<T> timeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout of step " + name + " must be positive, not " + timeout);
        }
        return new Step<>(name, type, policy, resource, timeout, atMostOnce);
    }

    /**
     * Returns the step as one that never runs twice by itself. Its start is stored first. A job that has a start without
     * an end becomes a dead letter with reason UNKNOWN_OUTCOME, and a person decides.
     */
    public Step<T> atMostOnce() {
        return new Step<>(name, type, policy, resource, timeout, true);
    }

    /** Returns the name. */
    public String name() {
        return name;
    }

    /** Returns the class of the result. */
    public Class<T> type() {
        return type;
    }

    /** Returns the policy; unset unless {@link #retry} was called. */
    public RetryPolicy policy() {
        return policy;
    }

    /** Returns the resource; null if the step has none. */
    public @Nullable String resource() {
        return resource;
    }

    /** Returns the limit of a run; null if there is none. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Returns whether the step never runs twice by itself. */
    public boolean isAtMostOnce() {
        return atMostOnce;
    }

    @Override
    public String toString() {
        return "step " + name;
    }
}
