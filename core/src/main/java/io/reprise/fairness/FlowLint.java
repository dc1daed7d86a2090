// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Finds limits of a queue that contradict each other. Such limits work, but one of them is never reached. */
final class FlowLint {

    private FlowLint() {}

    /** Returns a sentence for each limit that another one makes useless. */
    static List<String> of(String queue, GroupRules rules) {
        List<String> warnings = new ArrayList<>();
        check(queue, "group", rules.limits(), rules.rate(), warnings);
        check(queue, "type", rules.types(), rules.rate(), warnings);
        new TreeMap<>(rules.weights()).forEach((name, weight) -> {
            FlowLimit limit = rules.limitOf(name);
            if (limit.running() != null && limit.running() < weight) {
                warnings.add("A turn of group '" + name + "' in queue '" + queue + "' has " + weight
                        + " jobs, but at most " + limit.running()
                        + " of its jobs run at once: the weight is never reached. Lower it, or raise the limit");
            }
        });
        return warnings;
    }

    private static void check(
            String queue, String kind, Map<String, FlowLimit> limits, FlowLimit rate, List<String> warnings) {
        new TreeMap<>(limits).forEach((name, limit) -> {
            if (rate.isRate() && limit.isRate() && limit.spacingMicros() < rate.spacingMicros()) {
                warnings.add("The limit of " + kind + " '" + name + "' in queue '" + queue + "' allows "
                        + words(limit) + ", but the rate of the queue only " + words(rate)
                        + ": the limit is never reached. Lower it, or raise the rate of the queue");
            }
        });
    }

    private static String words(FlowLimit limit) {
        return limit.starts() + " starts per " + limit.per();
    }
}
