// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.Queue;
import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import io.reprise.insight.QueueLimit;
import io.reprise.insight.QueueLimit.From;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.settle.RunTotals;
import io.reprise.job.JobSpec.Needs;
import io.reprise.settings.QueueSettings;
import io.reprise.store.Claim;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How groups and types share each queue: the fleet's settings above those of the code. Thread-safe. */
public final class FlowRules {

    private static final Duration SHORTEST = Duration.ofMillis(20);

    private final Map<String, GroupRules> code;
    private final LiveSettings live;
    private final Function<String, List<GroupRules>> ofOthers;

    /** Creates the rules of a process that serves these queues. */
    public FlowRules(Collection<Queue> queues, LiveSettings live) {
        this(queues, live, queue -> List.of());
    }

    /**
     * Creates rules for somebody who looks at any queue.
     *
     * @param ofOthers returns the rules that workers have in their code for a queue
     */
    public FlowRules(Collection<Queue> queues, LiveSettings live, Function<String, List<GroupRules>> ofOthers) {
        this.code = queues.stream().collect(Collectors.toUnmodifiableMap(Queue::name, Queue::groups));
        this.live = live;
        this.ofOthers = ofOthers;
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
        GroupRules below = code.getOrDefault(queue, code.get(Needs.base(queue)));
        if (below == null) {
            List<GroupRules> others = ofOthers.apply(queue);
            below = others.isEmpty() ? GroupRules.EQUAL : others.get(0);
        }
        GroupRules above = told(queue);
        return above.equals(GroupRules.EQUAL) ? below : above.orElse(below);
    }

    private GroupRules told(String queue) {
        Map<String, QueueSettings> told = live.now().queues();
        return told.getOrDefault(queue, told.getOrDefault(Needs.base(queue), QueueSettings.NONE))
                .rules();
    }

    /** Returns the limits of a queue, and where each was set. */
    public List<QueueLimit> limits(String queue) {
        return CodeLimits.joined(told(queue), ofOthers.apply(queue));
    }

    /** Returns where a limit was set that a job of this queue has reached. */
    public From from(String queue, FlowGate.Reached reached) {
        GroupRules told = told(queue);
        FlowLimit limit = switch (reached.of()) {
            case QUEUE -> told.rate();
            case GROUP -> told.limitOf(reached.name());
            case TYPE -> told.limitOfType(reached.name());
        };
        return limit.equals(reached.limit()) ? From.SETTINGS : From.CODE;
    }
}
