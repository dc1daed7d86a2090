// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.Queue;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.settle.RunTotals;
import io.reprise.job.JobSpec.Needs;
import io.reprise.settings.QueueSettings;
import io.reprise.store.Claim;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How groups and types share each queue: the fleet's settings above those of the code. Thread-safe. */
public final class FlowRules {

    private static final Duration SHORTEST = Duration.ofMillis(20);

    private final Map<String, GroupRules> code;
    private final LiveSettings live;

    /** Creates the rules of a process that serves these queues. */
    public FlowRules(Collection<Queue> queues, LiveSettings live) {
        this.code = queues.stream().collect(Collectors.toUnmodifiableMap(Queue::name, Queue::groups));
        this.live = live;
    }

    /**
     * Returns how long a worker of these queues may rest if a rate holds jobs back: half of the time in which a burst
     * comes together, because what is over the burst is lost. Empty if there is no rate.
     */
    Optional<Duration> longestRest(Collection<Queue> queues) {
        return queues.stream()
                .map(queue -> of(queue.name()))
                .flatMap(rules -> Stream.of(
                                Stream.of(rules.rate()),
                                rules.limits().values().stream(),
                                rules.types().values().stream())
                        .flatMap(limits -> limits))
                .filter(FlowLimit::isRate)
                .map(FlowRules::halfOfBurst)
                .min(Comparator.naturalOrder());
    }

    private static Duration halfOfBurst(FlowLimit rate) {
        if (rate.starts() == null || rate.per() == null) {
            return SHORTEST;
        }
        Duration half = rate.per().multipliedBy(rate.burst()).dividedBy(2L * rate.starts());
        return half.compareTo(SHORTEST) < 0 ? SHORTEST : half;
    }

    /** Counts the starts of a claim if its queue has a service level. */
    void started(Claim claim, RunTotals totals) {
        StartGoal goal = of(claim.queue()).goal();
        if (goal != null) {
            claim.jobs().forEach(job -> totals.started(job, claim.claimedAt(), goal.within()));
        }
    }

    /** Returns the rules of a queue, as they are now. */
    public GroupRules of(String queue) {
        String base = Needs.base(queue);
        GroupRules below = code.getOrDefault(queue, code.getOrDefault(base, GroupRules.EQUAL));
        Map<String, QueueSettings> told = live.now().queues();
        QueueSettings above = told.getOrDefault(queue, told.get(base));
        return above == null || above.rules().equals(GroupRules.EQUAL)
                ? below
                : above.rules().orElse(below);
    }
}
