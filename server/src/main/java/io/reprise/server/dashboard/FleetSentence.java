// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.control.BreakerPhase;
import io.reprise.insight.Activity;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says how the fleet is, the trouble first. */
final class FleetSentence {

    private FleetSentence() {}

    /** Returns one sentence. {@code recent} is what happened in the last minutes; null if it is not known. */
    static String of(List<QueueState> queues, List<ResourceStatus> resources, Activity.@Nullable Counts recent) {
        List<String> parts = new ArrayList<>();
        long open = resources.stream()
                .filter(resource -> resource.phase() != BreakerPhase.CLOSED)
                .count();
        long parked = resources.stream().mapToLong(ResourceStatus::parked).sum();
        long paused = queues.stream().filter(queue -> queue.paused() != null).count();
        if (open > 0) {
            parts.add(count(open, "breaker is", "breakers are") + " not closed");
        }
        if (parked > 0) {
            parts.add(count(parked, "job is", "jobs are") + " parked");
        }
        if (paused > 0) {
            parts.add(count(paused, "queue is", "queues are") + " paused");
        }
        long dead = sum(queues, JobState.FAILED);
        if (dead > 0) {
            parts.add(count(dead, "dead letter waits", "dead letters wait") + " for a person");
        }
        if (recent != null && recent.retries() > 0) {
            long share = Math.round(100.0 * recent.retries() / (recent.jobs() + recent.retries()));
            parts.add("retries are " + share + " % of the calls of the last ten minutes");
        }
        if (parts.isEmpty()) {
            long waiting = sum(queues, JobState.PENDING);
            return waiting == 0
                    ? "All is quiet: no job waits and none is dead."
                    : "All is well: " + count(waiting, "job waits", "jobs wait") + ", and none is dead.";
        }
        String text = String.join(", ", parts) + ".";
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    private static long sum(List<QueueState> queues, JobState state) {
        return queues.stream().mapToLong(queue -> queue.count(state)).sum();
    }

    private static String count(long count, String one, String many) {
        return String.format(Locale.ROOT, "%,d %s", count, count == 1 ? one : many);
    }
}
