// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Lets the groups of a queue take turns, for those who write stores. It remembers in memory whose turn is next in each
 * lane and priority of a queue; nothing is stored. A store walks the turns of its index from {@link #from} to the end
 * and then from the beginning to {@link #from}. {@link #choose} does both, and {@link #took} moves on.
 *
 * <p>The turn of a job is its group if the job was due when it was stored, or was given its turn by
 * {@link JobStore#giveTurns}. Otherwise it is the empty text. All jobs of the empty turn share one turn. Thread-safe.
 *
 * @since 0.1.0
 */
public final class Turns {

    /** The turn of jobs without a group, and of jobs that were delayed. */
    public static final String NONE = "";

    /** Follows a name, so that the sum is greater than the name and less than every other name behind it. */
    private static final String BEHIND = "!";

    /** Beyond this number all are forgotten: users can create any number of queues. Forgetting only costs evenness. */
    private static final int MAX_REMEMBERED = 10_000;

    /** Turns without due jobs that a walk may visit: their jobs run, so they are not many. */
    private static final int VISITS_PER_JOB = 4;

    private static final int FEWEST_VISITS = 64;

    /** Turns that a walk asks for at once, also if it needs fewer; each time that it finds nothing, twice as many. */
    private static final int FEWEST_TURNS = 8;

    private static final int MOST_TURNS = 512;

    private final Map<Level, Place> places = new ConcurrentHashMap<>();
    private final Set<String> grouped = ConcurrentHashMap.newKeySet();

    /** Creates a memory in which every level starts with its first turn. */
    public Turns() {}

    /**
     * A range of the index of claims, as claims for the same types walk it. Claims for other types have turns of their
     * own: they must not move these.
     *
     * @param lane as the store writes it
     * @param asked {@link ClaimRequest#asked} of the request
     */
    public record Level(String queue, int lane, int priority, int asked) {

        /** Creates a level for claims of any type. */
        public Level(String queue, int lane, int priority) {
            this(queue, lane, priority, 0);
        }
    }

    /**
     * The due jobs of one turn.
     *
     * @param <J> what the store knows of a job
     * @param turn name of the group, or {@link #NONE}
     * @param jobs the jobs, first come first; read as far as they are taken
     */
    public record Waiting<J>(String turn, Iterator<J> jobs) {}

    /**
     * Where a walk starts.
     *
     * @param from the least turn that it visits first
     * @param left jobs that this turn has left
     */
    public record Place(String from, int left) {}

    /**
     * A job that was chosen.
     *
     * @param <J> what the store knows of a job
     * @param after where the walk of the level goes on if this is the last job that is claimed
     */
    public record Pick<J>(J job, Level level, Place after) {}

    private static final Place START = new Place(NONE, 0);

    /**
     * The turns of one level, for {@link #choose}.
     *
     * @param <J> what the store knows of a job
     * @param <X> what it may throw
     */
    public interface Walk<J, X extends Exception> {

        /**
         * Returns the turns of the level in their order. Turns without due jobs may be among them.
         *
         * @param from the least turn
         * @param before all are less than this; null for no bound
         * @param most how many at most
         */
        List<String> turns(String from, @Nullable String before, int most) throws X;

        /**
         * Returns jobs of the level that can be claimed, by their turn, first come first.
         *
         * @param most how many jobs of each turn at most
         */
        Map<String, List<J>> due(Map<String, Integer> most) throws X;

        /**
         * Returns those of these jobs that are in the level and can be claimed, by their turn.
         *
         * @param ids one job of each turn, by its id
         */
        Map<String, J> heads(Map<String, Long> ids) throws X;

        /**
         * Returns how many turns whose limits are reached one walk may visit. A store that jumps from one to the next within a
         * statement may visit many.
         */
        default int visits() {
            return 0;
        }

        /** Returns those of these jobs that have waited for this time, the longest first. */
        default List<J> waited(List<J> jobs, Duration time) throws X {
            return List.of();
        }
    }

    /**
     * The limits of a queue, for {@link #limited}.
     *
     * @param <J> what the store knows of a job
     * @param <X> what it may throw
     */
    public interface Limits<J, X extends Exception> {

        /** Returns what these groups may start now. */
        FlowGate gate(Collection<String> groups) throws X;

        /** Returns groups, types and ids of jobs. */
        Map<J, FlowKey> keys(List<J> jobs) throws X;
    }

    /**
     * Returns a walk that passes by groups whose limits are reached. What it finds must be checked again when it is
     * claimed, all jobs together and under a lock.
     */
    public static <J, X extends Exception> Walk<J, X> limited(Walk<J, X> walk, Limits<J, X> limits) {
        return new Walk<>() {
            @Override
            public int visits() {
                return walk.visits();
            }

            @Override
            public List<J> waited(List<J> jobs, Duration time) throws X {
                long before = limits.gate(List.of()).nowMicros() - Micros.of(time);
                Map<J, FlowKey> keys = limits.keys(jobs);
                return keys.entrySet().stream()
                        .filter(job -> job.getValue().due() <= before)
                        .sorted(Comparator.comparingLong((Map.Entry<J, FlowKey> job) ->
                                        job.getValue().due())
                                .thenComparing(job -> job.getValue().job()))
                        .map(Map.Entry::getKey)
                        .toList();
            }

            @Override
            public List<String> turns(String from, @Nullable String before, int most) throws X {
                return walk.turns(from, before, most);
            }

            @Override
            public Map<String, J> heads(Map<String, Long> ids) throws X {
                return walk.heads(ids);
            }

            @Override
            public Map<String, List<J>> due(Map<String, Integer> most) throws X {
                FlowGate gate = limits.gate(most.keySet());
                Map<String, Integer> some = new LinkedHashMap<>();
                Map<String, Long> heads = new LinkedHashMap<>();
                most.forEach((turn, jobs) -> {
                    int room = Math.min(jobs, gate.room(turn));
                    Long head = gate.head(turn);
                    if (room > 0 && head != null) {
                        heads.put(turn, head);
                    } else if (room > 0) {
                        some.put(turn, room);
                    }
                });
                Map<String, List<J>> due = new HashMap<>(some.isEmpty() ? Map.of() : walk.due(some));
                if (!heads.isEmpty()) {
                    // Others of these groups wait, however many come first.
                    walk.heads(heads).forEach((turn, job) -> due.put(turn, List.of(job)));
                }
                List<J> unsure = gate.isByType()
                        ? due.values().stream().flatMap(List::stream).toList()
                        : due.getOrDefault(NONE, List.of());
                if (!unsure.isEmpty()) {
                    Set<J> open = open(unsure);
                    due.replaceAll((turn, jobs) -> turn.equals(NONE) || gate.isByType()
                            ? jobs.stream().filter(open::contains).toList()
                            : jobs);
                }
                return due;
            }

            private Set<J> open(List<J> jobs) throws X {
                Map<J, FlowKey> keys = limits.keys(jobs);
                Set<String> groups = new HashSet<>();
                for (FlowKey key : keys.values()) {
                    if (key.group() != null) {
                        groups.add(key.group());
                    }
                }
                FlowGate gate = limits.gate(groups);
                Set<J> open = new HashSet<>();
                keys.forEach((job, key) -> {
                    if (gate.room(key) > 0) {
                        open.add(job);
                    }
                });
                return open;
            }
        };
    }

    /**
     * Walks the turns of a level once around, and chooses jobs until there are enough. It visits a bounded number of
     * turns; the next call goes on where this one ended.
     *
     * @param room jobs at most
     * @return the jobs in the order in which they should start
     * @throws X if the walk does
     */
    public <J, X extends Exception> List<Pick<J>> choose(Level level, int room, GroupRules rules, Walk<J, X> walk)
            throws X {
        StartGoal goal = rules.goal();
        if (goal == null || !goal.lateFirst() || room <= 0) {
            return around(level, room, rules, walk);
        }
        List<Pick<J>> some = around(level, Math.max(room, Math.min(wider(room), MOST_TURNS)), rules, walk);
        List<J> late = walk.waited(some.stream().map(Pick::job).toList(), goal.atRisk());
        return lateFirst(some, late, room);
    }

    /** Returns how many jobs are looked at to find those that come first. */
    static int wider(int room) {
        return VISITS_PER_JOB * room + FEWEST_VISITS;
    }

    /** Returns the first picks: late jobs in their order, then the others in turn. */
    public static <J> List<Pick<J>> lateFirst(List<Pick<J>> picks, List<J> late, int room) {
        Map<J, Pick<J>> byJob = new HashMap<>();
        picks.forEach(pick -> byJob.put(pick.job, pick));
        List<Pick<J>> first = new ArrayList<>();
        late.forEach(job -> first.add(Objects.requireNonNull(byJob.remove(job))));
        picks.stream().filter(pick -> byJob.containsKey(pick.job)).forEach(first::add);
        return List.copyOf(first.subList(0, Math.min(room, first.size())));
    }

    private <J, X extends Exception> List<Pick<J>> around(Level level, int room, GroupRules rules, Walk<J, X> walk)
            throws X {
        List<Pick<J>> taken = new ArrayList<>();
        String start = from(level);
        String at = start;
        boolean around = false;
        int most = Math.max(room, FEWEST_TURNS);
        int visits = rules.isLimited() ? walk.visits() : 0;
        for (int visited = 0;
                taken.size() < room
                        && at != null
                        && visited < Math.max(visits, VISITS_PER_JOB * room + FEWEST_VISITS); ) {
            int left = room - taken.size();
            List<String> turns = new ArrayList<>(walk.turns(at, around ? start : null, most));
            boolean last = around;
            if (turns.size() < most && !around) {
                around = true;
                List<String> first = start.isEmpty() ? List.of() : walk.turns(NONE, start, most - turns.size());
                last = turns.size() + first.size() < most;
                turns.addAll(first);
            } else if (turns.size() == most) {
                last = false;
            }
            if (turns.stream().anyMatch(turn -> !turn.isEmpty())) {
                seen(level.queue, true);
            }
            taken.addAll(pick(level, waiting(turns, left, rules, walk), left, rules));
            visited += turns.size();
            if (taken.isEmpty() && !turns.isEmpty()) {
                // All their jobs run. The next walk must not stop at them again.
                note(level, new Place(behind(turns.get(turns.size() - 1)), 0));
            }
            most = taken.isEmpty() ? Math.max(most, Math.min(2 * most, MOST_TURNS)) : Math.max(left, FEWEST_TURNS);
            at = last || turns.isEmpty() ? null : behind(turns.get(turns.size() - 1));
        }
        return taken;
    }

    /** Reads a few jobs of each turn, and more where that is not enough. */
    private static <J, X extends Exception> List<Waiting<J>> waiting(
            List<String> turns, int room, GroupRules rules, Walk<J, X> walk) throws X {
        long weights = turns.stream().mapToLong(rules::weightOf).sum();
        Map<String, Integer> most = new LinkedHashMap<>();
        for (String turn : turns) {
            int weight = rules.weightOf(turn);
            most.put(turn, (int) Math.min(room, Math.max(weight, 2L * room * weight / weights + 1)));
        }
        Map<String, List<J>> due = new HashMap<>(turns.isEmpty() ? Map.of() : walk.due(most));
        int found = due.values().stream().mapToInt(List::size).sum();
        if (found < room) {
            most.entrySet()
                    .removeIf(each -> each.getValue() == room
                            || due.getOrDefault(each.getKey(), List.of()).size() < each.getValue());
            most.replaceAll((turn, few) -> room);
            due.putAll(most.isEmpty() ? Map.of() : walk.due(most));
        }
        return turns.stream()
                .map(turn ->
                        new Waiting<>(turn, due.getOrDefault(turn, List.of()).iterator()))
                .toList();
    }

    /** Returns the least turn that the next walk of a level may visit first. */
    public String from(Level level) {
        return places.getOrDefault(level, START).from;
    }

    /** Returns whether jobs of groups were seen in this queue lately. */
    public boolean isGrouped(String queue) {
        return grouped.contains(queue);
    }

    /** Notes whether a look saw jobs of groups in this queue. */
    public void seen(String queue, boolean groups) {
        if (!groups) {
            grouped.remove(queue);
        } else if (grouped.size() < MAX_REMEMBERED || grouped.contains(queue)) {
            grouped.add(queue);
        } else {
            grouped.clear();
        }
    }

    /**
     * Chooses jobs turn by turn, each turn as many as its weight, round after round, until there are enough. Nothing
     * moves until {@link #took} says which jobs were claimed.
     *
     * @param waiting the turns that a walk visited, in its order
     * @param room jobs at most
     * @return the jobs in the order in which they should start
     */
    public <J> List<Pick<J>> pick(Level level, List<Waiting<J>> waiting, int room, GroupRules rules) {
        List<Pick<J>> picked = new ArrayList<>();
        Place before = places.getOrDefault(level, START);
        boolean more = true;
        for (int round = 0; more && picked.size() < room; round++) {
            more = false;
            for (Waiting<J> each : waiting) {
                boolean cut = round == 0 && before.left > 0 && each.turn.equals(before.from);
                int left = cut ? before.left : rules.weightOf(each.turn);
                while (left > 0 && picked.size() < room && each.jobs.hasNext()) {
                    left--;
                    more = true;
                    Place after = left > 0 ? new Place(each.turn, left) : new Place(behind(each.turn), 0);
                    picked.add(new Pick<>(each.jobs.next(), level, after));
                }
                if (picked.size() >= room) {
                    break;
                }
            }
        }
        return picked;
    }

    /** Notes that a job was claimed: the next walk goes on behind its turn, or in it if the turn has jobs left. */
    public void took(Pick<?> pick) {
        note(pick.level, pick.after);
    }

    /** Returns a text that is greater than this turn and less than every other turn behind it. */
    public static String behind(String turn) {
        return turn + BEHIND;
    }

    private void note(Level level, Place place) {
        if (places.size() >= MAX_REMEMBERED && !places.containsKey(level)) {
            places.clear();
        }
        places.put(level, place);
    }
}
