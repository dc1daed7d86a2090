// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets jobs of a queue start as far as the limits of its groups, its types and the queue allow, for those who write
 * stores. A store makes one for each claim, with what runs and what started before. Rates follow GCRA: of each rate one
 * time is stored, at which the next start would be due if all starts were evenly spaced. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class FlowGate {

    /** The key of the rate of the whole queue. No group has this name. */
    public static final String QUEUE = "";

    /** Half a microsecond: what rounding may cost. */
    private static final double ROUNDING = 0.5;

    /** The largest difference of clocks: a time that far ahead is still believed. */
    private static final long CLOCK_MICROS = 5_000_000;

    /** Begins the key of a type. No name of a group begins with it. */
    private static final String TYPE = "/";

    /** The longest key that every store takes. */
    private static final int LONGEST_KEY = 100;

    private final GroupRules rules;
    /** Most queues have no limits: then every job may start, and nothing is counted. */
    private final boolean limited;

    private final long nowMicros;
    private final Map<String, Integer> running;
    private final Map<String, Long> rates;
    private final Map<String, Long> heads;
    private final Map<String, Long> started = new HashMap<>();
    private final Map<String, Double> next = new HashMap<>();
    private final Map<String, Integer> taken = new HashMap<>();

    /**
     * Creates the gate of one claim.
     *
     * @param nowMicros time of the store, in microseconds
     * @param running jobs that run now, by key: a group, or {@link #ofType} of a type
     * @param rates the stored times, by key: a group, {@link #ofType} of a type, or {@link #QUEUE}
     */
    public FlowGate(GroupRules rules, long nowMicros, Map<String, Integer> running, Map<String, Long> rates) {
        this(rules, nowMicros, running, rates, Map.of());
    }

    /**
     * Creates the gate of one claim from a queue in which groups keep their order.
     *
     * @param heads by group, the id of the job that started last if it has not ended. Groups that keep no order may be
     *     missing
     */
    public FlowGate(
            GroupRules rules,
            long nowMicros,
            Map<String, Integer> running,
            Map<String, Long> rates,
            Map<String, Long> heads) {
        this.heads = Map.copyOf(heads);
        this.rules = rules;
        this.limited = rules.isLimited();
        this.nowMicros = nowMicros;
        this.running = new HashMap<>(running);
        this.rates = Map.copyOf(rates);
    }

    /** Returns the key of a type. It has at most 100 characters. */
    public static String ofType(String type) {
        String key = TYPE + type;
        return key.length() <= LONGEST_KEY
                ? key
                : key.substring(0, LONGEST_KEY - 9) + "#" + String.format(Locale.ROOT, "%08x", type.hashCode());
    }

    /** Returns the keys of the rates that a store must read for jobs of these groups and of any type. */
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
        rules.types().forEach((type, limit) -> {
            if (limit.isRate()) {
                keys.add(ofType(type));
            }
        });
        return keys;
    }

    /** Returns those of these groups that keep their order: a store must know which of their jobs started last. */
    public static Set<String> ordered(GroupRules rules, Iterable<String> groups) {
        Set<String> ordered = new LinkedHashSet<>();
        if (rules.isOrdered()) {
            for (String group : groups) {
                if (!group.isEmpty() && rules.limitOf(group).ordered()) {
                    ordered.add(group);
                }
            }
        }
        return ordered;
    }

    /**
     * Returns the job that all others of a group wait for: it started and has not ended. Null if there is none, or the group
     * keeps no order.
     */
    public @Nullable Long head(String group) {
        Long head = heads.get(group);
        return head == null || !rules.limitOf(group).ordered() ? null : head;
    }

    /** Returns the time of the store, in microseconds. */
    public long nowMicros() {
        return nowMicros;
    }

    /** Returns whether what may start depends on the type of a job. */
    public boolean isByType() {
        return rules.isLimitedByType();
    }

    /** Returns the types whose limits are reached. */
    public Set<String> fullTypes() {
        Set<String> full = new LinkedHashSet<>();
        rules.types().keySet().stream().filter(type -> roomOfType(type) <= 0).forEach(full::add);
        rules.most().keySet().stream().filter(type -> roomOfType(type) <= 0).forEach(full::add);
        return full;
    }

    /** Returns how many more jobs of this kind may start now. */
    public int room(FlowKey key) {
        if (!limited) {
            return Integer.MAX_VALUE;
        }
        if (isBehind(key)) {
            return 0;
        }
        return Math.min(room(key.group()), roomOfType(key.type()));
    }

    private boolean isBehind(FlowKey job) {
        String group = job.group();
        Long head = group == null ? null : head(group);
        return head != null && head != job.job();
    }

    private int roomOfType(String type) {
        FlowLimit limit = rules.limitOfType(type);
        String key = ofType(type);
        int room = Math.min(left(key, limit), runningRoom(key, limit));
        Integer most = rules.most().get(type);
        return Math.max(0, most == null ? room : Math.min(room, most - taken.getOrDefault(type, 0)));
    }

    private int runningRoom(String key, FlowLimit limit) {
        return limit.running() == null ? Integer.MAX_VALUE : limit.running() - running.getOrDefault(key, 0);
    }

    /** Returns how many more jobs of a group may start now, whatever their type; null or empty for no group. */
    public int room(@Nullable String group) {
        int room = left(QUEUE, rules.rate());
        if (group == null || group.isEmpty()) {
            return room;
        }
        FlowLimit limit = rules.limitOf(group);
        room = Math.min(room, runningRoom(group, limit));
        return Math.max(0, Math.min(room, left(group, limit)));
    }

    private int left(String key, FlowLimit rate) {
        if (!rate.isRate()) {
            return Integer.MAX_VALUE;
        }
        double spacing = rate.spacingMicros();
        double behind = Math.max(0, time(key, rate) - nowMicros);
        return (int) Math.max(0, Math.floor((rate.burst() * spacing - behind + ROUNDING) / spacing));
    }

    /**
     * Returns the time of a rate. A stored time that this rate cannot have made is of another rate, or of a clock that was
     * ahead. It would stop all starts for hours, so only one job starts now, and all others at the rate.
     */
    private double time(String key, FlowLimit rate) {
        Double changed = next.get(key);
        if (changed != null) {
            return changed;
        }
        long stored = rates.getOrDefault(key, 0L);
        double spacing = rate.spacingMicros();
        double last = nowMicros + rate.burst() * spacing;
        return stored > last + CLOCK_MICROS ? last - spacing : stored;
    }

    /** Lets a job start if there is room for it. Returns whether it may. */
    public boolean admits(FlowKey job) {
        if (!limited) {
            return true;
        }
        if (room(job) <= 0) {
            return false;
        }
        spend(QUEUE, rules.rate());
        String group = job.group();
        if (group != null && !group.isEmpty()) {
            running.merge(group, 1, Integer::sum);
            spend(group, rules.limitOf(group));
            if (rules.limitOf(group).ordered() && head(group) == null) {
                started.put(group, job.job());
            }
        }
        String type = ofType(job.type());
        running.merge(type, 1, Integer::sum);
        spend(type, rules.limitOfType(job.type()));
        taken.merge(job.type(), 1, Integer::sum);
        return true;
    }

    /**
     * Returns the limits that keep a job of this kind from starting now. A job may start if there are none.
     */
    public List<Reached> reached(FlowKey job) {
        List<Reached> reached = new ArrayList<>();
        add(reached, Reached.Of.QUEUE, QUEUE, QUEUE, rules.rate());
        String group = job.group();
        if (group != null && !group.isEmpty()) {
            add(reached, Reached.Of.GROUP, group, group, rules.limitOf(group));
        }
        add(reached, Reached.Of.TYPE, job.type(), ofType(job.type()), rules.limitOfType(job.type()));
        return reached;
    }

    private void add(List<Reached> reached, Reached.Of of, String name, String key, FlowLimit limit) {
        int now = running.getOrDefault(key, 0);
        if (runningRoom(key, limit) <= 0) {
            reached.add(new Reached(of, name, limit, now, null));
        }
        if (left(key, limit) <= 0) {
            double spacing = limit.spacingMicros();
            long until = (long) Math.ceil(time(key, limit) - (limit.burst() - 1) * spacing);
            reached.add(new Reached(of, name, limit, now, Instant.EPOCH.plus(until, ChronoUnit.MICROS)));
        }
    }

    /**
     * A limit that is reached.
     *
     * @param of what is limited
     * @param name name of the group or type; empty for the queue
     * @param limit the limit
     * @param running jobs of it that run now
     * @param until when the rate lets the next job start; null if it is the number of running jobs that is reached
     */
    public record Reached(
            Of of,
            String name,
            FlowLimit limit,
            int running,
            @Nullable Instant until) {

        /** The jobs that a limit counts. */
        public enum Of {
            /** All jobs of the queue. */
            QUEUE,
            /** The jobs of one group. */
            GROUP,
            /** The jobs of one type. */
            TYPE
        }
    }

    private void spend(String key, FlowLimit rate) {
        if (rate.isRate()) {
            next.put(key, Math.max((double) nowMicros, time(key, rate)) + rate.spacingMicros());
        }
    }

    /** Returns the jobs to store as those that started last, by the name of their group. */
    public Map<String, Long> started() {
        return Map.copyOf(started);
    }

    /** Returns the times to store, by key. */
    public Map<String, Long> changed() {
        Map<String, Long> changed = new HashMap<>();
        next.forEach((key, time) -> changed.put(key, (long) Math.ceil(time)));
        return changed;
    }
}
