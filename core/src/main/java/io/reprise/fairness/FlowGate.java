// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets jobs of a queue start as far as the limits of its groups and of the queue allow, for those who write stores. A
 * store makes one for each claim, with what runs and what started before. Rates follow GCRA: of each rate one time is
 * stored, at which the next start would be due if all starts were evenly spaced. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class FlowGate {

    /** The key of the rate of the whole queue. No group has this name. */
    public static final String QUEUE = "";

    /** Half a microsecond: what rounding may cost. */
    private static final double ROUNDING = 0.5;

    private final GroupRules rules;
    private final long nowMicros;
    private final Map<String, Integer> running;
    private final Map<String, Long> rates;
    private final Map<String, Double> next = new HashMap<>();

    /**
     * Creates the gate of one claim.
     *
     * @param nowMicros time of the store, in microseconds
     * @param running jobs that run now, by group
     * @param rates the stored times by key: a group, or {@link #QUEUE}
     */
    public FlowGate(GroupRules rules, long nowMicros, Map<String, Integer> running, Map<String, Long> rates) {
        this.rules = rules;
        this.nowMicros = nowMicros;
        this.running = new HashMap<>(running);
        this.rates = Map.copyOf(rates);
    }

    /** Returns the keys of the rates that a store must read for jobs of these groups. */
    public static Set<String> keys(GroupRules rules, Iterable<String> groups) {
        Set<String> keys = new LinkedHashSet<>();
        if (rules.rate().isRate()) {
            keys.add(QUEUE);
        }
        for (String group : groups) {
            if (!group.isEmpty() && rules.limitOf(group).isRate()) {
                keys.add(group);
            }
        }
        return keys;
    }

    /** Returns how many more jobs of a group may start now; null or empty for no group. */
    public int room(@Nullable String group) {
        int room = left(QUEUE, rules.rate());
        if (group == null || group.isEmpty()) {
            return room;
        }
        FlowLimit limit = rules.limitOf(group);
        if (limit.running() != null) {
            room = Math.min(room, limit.running() - running.getOrDefault(group, 0));
        }
        return Math.max(0, Math.min(room, left(group, limit)));
    }

    private int left(String key, FlowLimit rate) {
        if (!rate.isRate()) {
            return Integer.MAX_VALUE;
        }
        double spacing = rate.spacingMicros();
        double behind = Math.max(0, time(key) - nowMicros);
        return (int) Math.max(0, Math.floor((rate.burst() * spacing - behind + ROUNDING) / spacing));
    }

    private double time(String key) {
        Double changed = next.get(key);
        return changed == null ? rates.getOrDefault(key, 0L) : changed;
    }

    /** Lets a job start if there is room for it. Returns whether it may. */
    public boolean admits(@Nullable String group) {
        if (room(group) <= 0) {
            return false;
        }
        spend(QUEUE, rules.rate());
        if (group != null && !group.isEmpty()) {
            running.merge(group, 1, Integer::sum);
            spend(group, rules.limitOf(group));
        }
        return true;
    }

    private void spend(String key, FlowLimit rate) {
        if (rate.isRate()) {
            next.put(key, Math.max((double) nowMicros, time(key)) + rate.spacingMicros());
        }
    }

    /** Returns the times to store, by key. */
    public Map<String, Long> changed() {
        Map<String, Long> changed = new HashMap<>();
        next.forEach((key, time) -> changed.put(key, (long) Math.ceil(time)));
        return changed;
    }
}
