// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.fairness.GroupRules;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Worlds of groups, drawn by seed: nobody starves, and everybody gets the share of its weight. */
class TurnsTest {

    private static final Turns.Level LEVEL = new Turns.Level("queue", 0, 0);

    private final Turns turns = new Turns();
    private final TreeMap<String, Deque<Integer>> waiting = new TreeMap<>();
    private final Set<Integer> running = new HashSet<>();
    private int nextJob;

    private void add(String group, int jobs) {
        for (int i = 0; i < jobs; i++) {
            waiting.computeIfAbsent(group, name -> new ArrayDeque<>()).add(nextJob++);
        }
    }

    private final Turns.Walk<String, RuntimeException> walk = new Turns.Walk<>() {
        @Override
        public List<String> turns(String from, @Nullable String before, int most) {
            return waiting.tailMap(from, true).keySet().stream()
                    .filter(turn -> before == null || turn.compareTo(before) < 0)
                    .limit(most)
                    .toList();
        }

        @Override
        public Map<String, List<String>> due(Map<String, Integer> most) {
            Map<String, List<String>> due = new HashMap<>();
            most.forEach((turn, max) -> due.put(
                    turn,
                    waiting.getOrDefault(turn, new ArrayDeque<>()).stream()
                            .filter(job -> !running.contains(job))
                            .limit(max)
                            .map(job -> turn + " " + job)
                            .toList()));
            return due;
        }

        @Override
        public Map<String, String> heads(Map<String, Long> ids) {
            return Map.of();
        }
    };

    /** Claims jobs, and ends them at once. Returns their groups. */
    private List<String> claim(int room, GroupRules rules) {
        List<String> groups = new ArrayList<>();
        for (Turns.Pick<String> pick : turns.choose(LEVEL, room, rules, walk)) {
            turns.took(pick);
            String[] parts = pick.job().split(" ", -1);
            assertThat(waiting.get(parts[0]).remove(Integer.valueOf(parts[1])))
                    .as("chosen once")
                    .isTrue();
            waiting.computeIfPresent(parts[0], (name, jobs) -> jobs.isEmpty() ? null : jobs);
            groups.add(parts[0]);
        }
        return groups;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void every_group_gets_the_share_of_its_weight(long seed) {
        Random random = new Random(seed);
        GroupRules rules = GroupRules.EQUAL;
        int groups = 1 + random.nextInt(40);
        long weights = 0;
        for (int i = 0; i < groups; i++) {
            int weight = 1 + random.nextInt(4);
            rules = rules.weight("g" + i, weight);
            weights += weight;
            add("g" + i, 10_000);
        }
        Map<String, Integer> starts = new HashMap<>();
        int all = 0;
        while (all < 5_000) {
            for (String group : claim(1 + random.nextInt(random.nextInt(200) + 1), rules)) {
                starts.merge(group, 1, Integer::sum);
                all++;
            }
        }
        for (int i = 0; i < groups; i++) {
            double due = (double) all * rules.weightOf("g" + i) / weights;
            assertThat((double) starts.getOrDefault("g" + i, 0))
                    .as("starts of g%d of weight %d", i, rules.weightOf("g" + i))
                    .isBetween(due - 2 * 4 - 1, due + 2 * 4 + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void everything_is_claimed_whatever_comes(long seed) {
        Random random = new Random(seed);
        int claimed = 0;
        for (int step = 0; step < 500; step++) {
            add("g" + random.nextInt(300), 1 + random.nextInt(5));
            claimed += claim(random.nextInt(8), GroupRules.EQUAL).size();
        }
        for (int step = 0; step < 10_000 && !waiting.isEmpty(); step++) {
            claimed += claim(1 + random.nextInt(50), GroupRules.EQUAL).size();
        }
        assertThat(waiting).isEmpty();
        assertThat(claimed).isEqualTo(nextJob);
    }

    @Test
    void a_group_that_comes_late_is_served_within_one_round() {
        for (int i = 0; i < 50; i++) {
            add("group-" + i, 1_000);
        }
        claim(30, GroupRules.EQUAL);
        add("late", 1);
        List<String> next = new ArrayList<>();
        for (int i = 0; i < 51; i++) {
            next.addAll(claim(1, GroupRules.EQUAL));
        }
        assertThat(next).contains("late");
    }

    @Test
    void groups_whose_jobs_all_run_do_not_hide_the_others() {
        for (int i = 0; i < 500; i++) {
            add("a-%03d".formatted(i), 1);
        }
        waiting.values().forEach(running::addAll);
        add("z", 1);
        List<String> found = new ArrayList<>();
        for (int claims = 0; claims < 20 && found.isEmpty(); claims++) {
            found.addAll(claim(1, GroupRules.EQUAL));
        }
        assertThat(found).containsExactly("z");
    }

    @Test
    void a_level_without_turns_gives_nothing() {
        assertThat(claim(10, GroupRules.EQUAL)).isEmpty();
    }

    @Test
    void what_was_chosen_but_not_claimed_keeps_its_turn() {
        add("a", 5);
        add("b", 5);
        List<Turns.Pick<String>> chosen = turns.choose(LEVEL, 2, GroupRules.EQUAL, walk);
        assertThat(chosen).hasSize(2);
        turns.took(chosen.get(0));
        assertThat(claim(1, GroupRules.EQUAL)).containsExactly("b");
    }

    @Test
    void a_name_behind_another_begins_after_it_and_before_the_next() {
        assertThat(Turns.behind("a"))
                .isGreaterThan("a")
                .isLessThan("a-")
                .isLessThan("a.b")
                .isLessThan("b");
        assertThat(Turns.behind(Turns.NONE)).isGreaterThan("").isLessThan("0");
    }
}
