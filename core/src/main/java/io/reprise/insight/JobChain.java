// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.text.JsonReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The neighbours of a job in its chain, for people.
 *
 * @param after the job that it follows; null if it follows none
 * @param next the jobs that follow it directly
 * @since 0.1.0
 */
public record JobChain(@Nullable JobId after, List<Next> next) {

    private static final long CARRIER = -1;

    /** Copies the list. */
    public JobChain {
        next = List.copyOf(next);
    }

    /**
     * A job that follows.
     *
     * @param when the state of the job that this one follows: SUCCEEDED or FAILED
     * @param type name of its type
     * @param queue name of its queue
     */
    public record Next(JobState when, String type, String queue) {}

    /** Returns the chain of a job. It is empty if the job is in none, or if its stored chain cannot be read. */
    public static JobChain of(JobSpec spec) {
        String json = spec.chain();
        if (json == null) {
            return new JobChain(null, List.of());
        }
        try {
            return of(JsonReader.read(json));
        } catch (IllegalArgumentException e) {
            return new JobChain(null, List.of());
        }
    }

    private static JobChain of(@Nullable Object json) {
        if (!(json instanceof Map<?, ?> chain)) {
            return new JobChain(null, List.of());
        }
        List<Next> next = new ArrayList<>();
        if (chain.get("links") instanceof List<?> links) {
            for (Object each : links) {
                if (each instanceof Map<?, ?> link && Long.valueOf(CARRIER).equals(link.get("of"))) {
                    JobState when = "dead".equals(link.get("when")) ? JobState.FAILED : JobState.SUCCEEDED;
                    next.add(new Next(when, String.valueOf(link.get("type")), String.valueOf(link.get("queue"))));
                }
            }
        }
        return new JobChain(chain.get("after") instanceof Long id ? new JobId(id) : null, next);
    }
}
