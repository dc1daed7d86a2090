// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Queue;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a worker works.
 *
 * @param queues those to serve; empty for every queue there is
 * @param strictOrder whether the queues are served in the order given, rather than by weight
 * @param keep how long finished jobs are kept before the leader prunes them
 * @param onlyHandled whether jobs of types without a handler are left to others, rather than claimed and given back
 */
public record WorkerSettings(
        String name,
        int concurrency,
        List<Queue> queues,
        boolean strictOrder,
        double retryShare,
        Timing timing,
        Keep keep,
        boolean onlyHandled) {

    public WorkerSettings {
        queues = List.copyOf(queues);
    }

    /**
     * How long things may take.
     *
     * @param lease how long jobs are held between renewals
     * @param poll the longest rest between two looks for work
     * @param stopGrace how long a closing worker lets handlers finish
     * @param cancelGrace how long an interrupted handler may take to end
     */
    public record Timing(Duration lease, Duration poll, Duration stopGrace, Duration cancelGrace) {}

    /**
     * How long ended jobs and the audit log are kept. Null keeps dead letters until a person has dealt with them.
     */
    public record Keep(Duration finished, @Nullable Duration failed, Duration audit) {

        Duration requireFailed() {
            return Objects.requireNonNull(failed);
        }
    }
}
