// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.JobInterceptor;
import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The job types of this application. It fills in what a request leaves open, and refuses a job that no handler would
 * ever run. Thread-safe.
 */
final class KnownTypes implements JobInterceptor {

    /** The options of jobs of a type that do not set them themselves. */
    record Defaults(
            @Nullable String queue,
            @Nullable String resource,
            @Nullable Duration timeout,
            RetryPolicy policy) {}

    private final Map<String, Defaults> types = new ConcurrentHashMap<>();
    private volatile boolean complete;

    void add(String type, Defaults defaults) {
        types.put(type, defaults);
    }

    /** From now on a type that was not added is refused. */
    void complete() {
        complete = true;
    }

    @Override
    public JobSpec onRequest(JobSpec job) {
        Defaults defaults = types.get(job.type());
        if (defaults == null) {
            requireKnown(job.type());
            return job;
        }
        JobSpec.Builder filled = job.toBuilder().policy(job.policy().orElse(defaults.policy()));
        if (defaults.queue() != null && job.queue().equals(JobSpec.DEFAULT_QUEUE)) {
            filled.queue(defaults.queue());
        }
        if (job.resource() == null) {
            filled.resource(defaults.resource());
        }
        if (job.timeout() == null) {
            filled.timeout(defaults.timeout());
        }
        return filled.build();
    }

    private void requireKnown(String type) {
        if (complete) {
            throw new IllegalArgumentException("No bean of this application handles jobs of type '" + type
                    + "' (it handles " + new TreeSet<>(types.keySet()) + "): annotate a method with @RepriseJob(\""
                    + type + "\"), or set reprise.types." + type
                    + ".elsewhere=true if another application handles them");
        }
    }
}
