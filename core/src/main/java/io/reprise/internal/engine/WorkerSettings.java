// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import io.reprise.Queue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a worker, as the builder collected them. Immutable.
 *
 * @param queues queues to serve; empty for every queue
 * @param typeConcurrency how many jobs of a type this worker runs at once, by type
 * @param strictOrder whether the queues are served in the order given, rather than by weight
 * @param keep how long finished jobs are kept before the leader prunes them
 * @param offers labels that this worker offers to jobs that need them
 * @param onlyHandled whether this worker claims only types that it handles, rather than claiming all
 *     and giving others back
 */
public record WorkerSettings(
        String name,
        int concurrency,
        List<Queue> queues,
        Map<String, Integer> typeConcurrency,
        boolean strictOrder,
        double retryShare,
        Timing timing,
        Keep keep,
        Set<String> offers,
        boolean onlyHandled) {

    public WorkerSettings {
        queues = List.copyOf(queues);
        offers = Set.copyOf(offers);
        typeConcurrency = Map.copyOf(typeConcurrency);
    }

    /**
     * Time limits of a worker.
     *
     * @param lease how long jobs are held between renewals
     * @param poll the longest rest between two looks for jobs
     * @param stopGrace how long a closing worker lets handlers finish
     * @param cancelGrace how long an interrupted handler may take to end
     */
    public record Timing(Duration lease, Duration poll, Duration stopGrace, Duration cancelGrace) {}

    /**
     * How long ended jobs and the audit log are kept. If {@code failed} is null, dead letters are kept until
     * a person deals with them.
     */
    public record Keep(Duration finished, @Nullable Duration failed, Duration audit) {}
}
