// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Truncation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Named policies: the default, and the behaviour of five other retry mechanisms reproduced exactly.
 *
 * <p>The policies of other systems set every field but {@code giveUpBelow}, so nothing of the default shows through.
 * {@code one-shot} sets only the number of attempts. docs/retries.md lists all presets with their delays. Thread-safe.
 *
 * @since 0.1.0
 */
public final class Presets {

    record Preset(String description, RetryPolicy policy) {}

    private static final Map<String, Preset> ALL = all();

    private Presets() {}

    /** Returns the names of all presets, in the order of the documentation. */
    public static List<String> names() {
        return List.copyOf(ALL.keySet());
    }

    /**
     * Returns the policy with this name.
     *
     * @throws NullPointerException if {@code name} is null
     * @throws IllegalArgumentException if no preset has this name; the message lists similar names
     */
    public static RetryPolicy get(String name) {
        return find(name).policy();
    }

    /**
     * Returns one line about the policy with this name, for people.
     *
     * @throws NullPointerException if {@code name} is null
     * @throws IllegalArgumentException if no preset has this name; the message lists similar names
     */
    public static String describe(String name) {
        return find(name).description();
    }

    private static Preset find(String name) {
        Preset preset = ALL.get(name);
        if (preset == null) {
            throw new IllegalArgumentException("no preset \"" + Truncation.cut(name, 100) + "\"; " + hint(name));
        }
        return preset;
    }

    private static String hint(String name) {
        String wanted = Truncation.cut(name.toLowerCase(Locale.ROOT).replace('_', '-'), 100);
        List<String> near = new ArrayList<>();
        for (String known : ALL.keySet()) {
            if (known.startsWith(wanted) || wanted.startsWith(known) || distance(wanted, known) <= 2) {
                near.add(known);
            }
        }
        return near.isEmpty()
                ? "known: " + String.join(", ", ALL.keySet())
                : "did you mean " + String.join(", ", near) + "?";
    }

    /** The number of insertions, deletions and replacements that turn one word into the other. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }

    private static Map<String, Preset> all() {
        Map<String, Preset> all = new LinkedHashMap<>();
        all.put("default", new Preset("Exponential 2 s to 1 h, full jitter, 20 attempts in 24 h", RetryPolicy.DEFAULT));
        all.put("one-shot", new Preset("One attempt, no retry", RetryPolicy.none()));
        PresetList.addTo(all);
        return Collections.unmodifiableMap(all);
    }
}
