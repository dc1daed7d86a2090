// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.text.JsonFields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON form of a rule, of the loss rule and of {@link GiveUp} inside a policy. */
final class RuleJson {

    private static final List<String> RULE = List.of("name", "class", "types", "codes", "statuses", "messages");
    private static final List<String> LOSSES = List.of("counts", "backoff", "max");
    private static final List<String> GIVE_UP = List.of("probability", "minSamples");

    private RuleJson() {}

    static Map<String, Object> write(Rule rule) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("name", rule.name());
        out.put("class", rule.failureClass().name());
        putList(out, "types", rule.types());
        putList(out, "codes", rule.codes());
        putList(out, "statuses", rule.statuses());
        putList(out, "messages", rule.messages());
        return out;
    }

    static Map<String, Object> write(LossRule losses) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("counts", losses.counts());
        out.put("backoff", losses.backoff());
        out.put("max", losses.max());
        return out;
    }

    static Map<String, Object> write(GiveUp rule) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("probability", rule.probability());
        out.put("minSamples", rule.minSamples());
        return out;
    }

    static Rule readRule(@Nullable Object value) {
        JsonFields in = JsonFields.of("rule", value, RULE).require("name", "class");
        String[] words = new String[2];
        in.text("name", name -> words[0] = name);
        in.text("class", name -> words[1] = name);
        return rule(words[0], PolicyJson.failureClass("class of rule " + words[0], words[1]), in);
    }

    private static Rule rule(String name, FailureClass failureClass, JsonFields in) {
        return Rule.of(name, failureClass, texts(in, "types"), texts(in, "codes"), statuses(in), texts(in, "messages"));
    }

    /** Reads items without a name and a class, as a branch has them; null if there is none. */
    static @Nullable Rule items(String name, JsonFields in) {
        boolean any = in.has("types") || in.has("codes") || in.has("statuses") || in.has("messages");
        return any ? rule(name, FailureClass.TRANSIENT, in) : null;
    }

    /** Reads a loss rule. All three fields are required, because a loss rule is one field of a policy. */
    static LossRule readLosses(@Nullable Object value) {
        JsonFields in = JsonFields.of("losses", value, LOSSES).require("counts", "backoff", "max");
        boolean[] flags = new boolean[2];
        int[] max = new int[1];
        in.bool("counts", flag -> flags[0] = flag);
        in.bool("backoff", flag -> flags[1] = flag);
        in.integer("max", number -> max[0] = number);
        return new LossRule(flags[0], flags[1], max[0]);
    }

    static GiveUp readGiveUp(@Nullable Object value) {
        JsonFields in = JsonFields.of("giveUpBelow", value, GIVE_UP).require("probability", "minSamples");
        double[] probability = new double[1];
        int[] samples = new int[1];
        in.number("probability", number -> probability[0] = number);
        in.integer("minSamples", number -> samples[0] = number);
        return new GiveUp(probability[0], samples[0]);
    }

    private static List<String> texts(JsonFields in, String name) {
        List<String> texts = new ArrayList<>();
        in.list(name, list -> list.forEach(item -> texts.add(in.asText(name, item))));
        return texts;
    }

    private static List<Integer> statuses(JsonFields in) {
        List<Integer> statuses = new ArrayList<>();
        in.list("statuses", list -> list.forEach(item -> statuses.add(in.asInteger("statuses", item))));
        return statuses;
    }

    private static void putList(Map<String, Object> out, String name, List<?> list) {
        if (!list.isEmpty()) {
            out.put(name, list);
        }
    }
}
