// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.FailureClass;
import io.reprise.text.Bounds;
import io.reprise.text.JsonFields;
import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON form of a policy. The order of members is fixed, so that equal policies give equal text. */
final class PolicyJson {

    private static final List<String> MEMBERS = List.of(
            "backoff",
            "delays",
            "base",
            "factor",
            "offset",
            "cap",
            "minDelay",
            "jitter",
            "capOrder",
            "rounding",
            "maxAttempts",
            "deadline",
            "retryAfterCap",
            "retryTimeouts",
            "unclassified",
            "rules",
            "rulesOnly",
            "losses",
            "giveUpBelow",
            "branches");

    private PolicyJson() {}

    static String write(PolicyFields fields) {
        return JsonText.write(members(fields));
    }

    static Map<String, @Nullable Object> members(RetryPolicy policy) {
        return members(policy.fields());
    }

    private static Map<String, @Nullable Object> members(PolicyFields fields) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        putName(out, "backoff", fields.kind);
        if (fields.kind == PolicyFields.Kind.TABLE) {
            out.put("delays", fields.delays.stream().map(Duration::toString).toList());
        }
        put(out, "base", fields.base);
        put(out, "factor", fields.factor);
        put(out, "offset", fields.offset);
        putLimit(out, "cap", fields.cap);
        put(out, "minDelay", fields.minDelay);
        put(out, "jitter", fields.jitter == null ? null : fields.jitter.text());
        putName(out, "capOrder", fields.capOrder);
        putName(out, "rounding", fields.rounding);
        putLimit(out, "maxAttempts", fields.maxAttempts);
        putLimit(out, "deadline", fields.deadline);
        put(out, "retryAfterCap", fields.retryAfterCap);
        put(out, "retryTimeouts", fields.retryTimeouts);
        put(out, "unclassified", fields.unclassified);
        if (!fields.rules.isEmpty()) {
            out.put("rules", fields.rules.stream().map(RuleJson::write).toList());
        }
        put(out, "rulesOnly", fields.rulesOnly ? Boolean.TRUE : null);
        put(out, "losses", fields.losses == null ? null : RuleJson.write(fields.losses));
        if (fields.giveUpBelow.isSet()) {
            out.put(
                    "giveUpBelow",
                    fields.giveUpBelow.toOptional().map(RuleJson::write).orElse(null));
        }
        if (!fields.branches.isEmpty()) {
            out.put("branches", fields.branches.stream().map(BranchJson::write).toList());
        }
        return out;
    }

    static PolicyFields read(String json) {
        return read(JsonReader.read(json));
    }

    static PolicyFields read(@Nullable Object json) {
        JsonFields in = JsonFields.of("retry policy", json, MEMBERS);
        PolicyFields fields = new PolicyFields();
        in.text("backoff", name -> fields.kind = constant("backoff", name, PolicyFields.Kind.values()));
        readDelays(in, fields);
        in.duration("base", fields::base);
        in.number("factor", fields::factor);
        in.integer("offset", fields::offset);
        in.none("cap", () -> fields.cap = Limit.none());
        in.duration("cap", fields::cap);
        in.duration("minDelay", fields::minDelay);
        in.text("jitter", name -> fields.jitter = Jitter.parse(name));
        in.text("capOrder", name -> fields.capOrder = constant("capOrder", name, CapOrder.values()));
        in.text("rounding", name -> fields.rounding = constant("rounding", name, Rounding.values()));
        in.none("maxAttempts", () -> fields.maxAttempts = Limit.none());
        in.integer("maxAttempts", fields::maxAttempts);
        in.none("deadline", () -> fields.deadline = Limit.none());
        in.duration("deadline", fields::deadline);
        in.duration("retryAfterCap", fields::retryAfterCap);
        in.bool("retryTimeouts", value -> fields.retryTimeouts = value);
        in.text("unclassified", name -> fields.unclassified(failureClass("unclassified", name)));
        in.list(
                "rules",
                list -> fields.rules(list.stream().map(RuleJson::readRule).toList()));
        in.bool("rulesOnly", value -> fields.rulesOnly = value);
        in.object("losses", value -> fields.losses = RuleJson.readLosses(value));
        in.none("giveUpBelow", () -> fields.giveUpBelow = Limit.none());
        in.object("giveUpBelow", value -> fields.giveUpBelow = Limit.of(RuleJson.readGiveUp(value)));
        in.list(
                "branches",
                list -> fields.branches(list.stream().map(BranchJson::read).toList()));
        return fields;
    }

    private static void readDelays(JsonFields in, PolicyFields fields) {
        if (in.has("delays") != (fields.kind == PolicyFields.Kind.TABLE)) {
            throw new IllegalArgumentException("delays must be given with backoff \"table\" and only with it");
        }
        in.list("delays", list -> {
            List<Duration> delays = new ArrayList<>();
            list.forEach(text -> delays.add(JsonFields.asDuration("delays", text)));
            fields.backoff(new Backoff.Table(delays));
        });
    }

    static FailureClass failureClass(String field, String name) {
        return constant(field, name, FailureClass.values());
    }

    private static <E extends Enum<E>> E constant(String field, String name, E[] constants) {
        List<String> allowed = new ArrayList<>();
        for (E constant : constants) {
            if (constant.name().equalsIgnoreCase(name.replace('-', '_'))) {
                return constant;
            }
            allowed.add(constant instanceof FailureClass ? constant.name() : kebab(constant));
        }
        throw Bounds.refused(field, JsonText.write(name), "one of " + String.join(", ", allowed));
    }

    private static String kebab(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static void putName(Map<String, @Nullable Object> out, String name, @Nullable Enum<?> constant) {
        put(out, name, constant == null ? null : kebab(constant));
    }

    private static void put(Map<String, @Nullable Object> out, String name, @Nullable Object value) {
        if (value != null) {
            out.put(name, value);
        }
    }

    private static void putLimit(Map<String, @Nullable Object> out, String name, Limit<?> limit) {
        if (limit.isSet()) {
            out.put(name, limit.toOptional().orElse(null));
        }
    }
}
