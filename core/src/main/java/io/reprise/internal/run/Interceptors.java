// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobContext;
import io.reprise.JobInterceptor;
import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The interceptors of a process as one. {@code Reprise} calls it for requests, the {@link Runner} for runs. */
public record Interceptors(List<JobInterceptor> all) implements JobInterceptor {

    public Interceptors {
        all = List.copyOf(all);
    }

    @Override
    public JobSpec onRequest(JobSpec job) {
        JobSpec complete = job;
        for (JobInterceptor interceptor : all) {
            complete = interceptor.onRequest(complete);
        }
        return complete;
    }

    @Override
    public List<Enqueued> onEnqueue(List<JobSpec> jobs, Storing next) {
        Storing storing = next;
        for (int i = all.size() - 1; i >= 0; i--) {
            JobInterceptor interceptor = all.get(i);
            Storing inner = storing;
            storing = specs -> interceptor.onEnqueue(specs, inner);
        }
        return storing.store(jobs);
    }

    @Override
    public void onRun(JobContext job, Handling next) throws Exception {
        Handling handling = next;
        for (int i = all.size() - 1; i >= 0; i--) {
            JobInterceptor interceptor = all.get(i);
            Handling inner = handling;
            handling = () -> interceptor.onRun(job, inner);
        }
        handling.handle();
    }

    @Override
    public <T extends @Nullable Object> T onStep(JobContext job, String step, Callable<T> next) throws Exception {
        Callable<T> work = next;
        for (int i = all.size() - 1; i >= 0; i--) {
            JobInterceptor interceptor = all.get(i);
            Callable<T> inner = work;
            work = () -> interceptor.onStep(job, step, inner);
        }
        return work.call();
    }
}
