// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.failure.FailureClass;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import io.reprise.insight.AlertRules;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.Bounds;
import io.reprise.text.JsonFields;
import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The JSON form of fleet settings. The order of members is fixed, so that equal settings give equal text. */
final class SettingsJson {

    private static final List<String> ALL = List.of("defaults", "types", "queues", "resources");
    private static final List<String> DEFAULTS = List.of(
            "policy",
            "retries",
            "poll",
            "concurrency",
            "pool",
            "keepFinished",
            "keepFailed",
            "keepAudit",
            "alerts",
            "breaker",
            "budget",
            "ceilings");
    private static final List<String> RESOURCE = List.of("policy", "breaker", "budget", "rate");
    private static final List<String> TYPE = List.of("policy", "budget", "concurrency");
    private static final List<String> QUEUE = List.of(
            "policy", "ceilings", "order", "weights", "perGroup", "perType", "rate", "startWithin", "lateFirst");
    private static final List<String> LIMIT = List.of("running", "starts", "per", "burst", "inOrder");
    private static final List<String> CEILINGS = List.of("maxAttempts", "deadline", "payloadBytes", "queueDepth");
    private static final List<String> ALERTS =
            List.of("windowMinutes", "retryRate", "minJobs", "retryCount", "deadLetters", "backoff");
    private static final List<String> BREAKER = List.of(
            "enabled",
            "counted",
            "failureRate",
            "minSamples",
            "window",
            "streak",
            "probes",
            "firstProbe",
            "longestProbe",
            "freshShare");
    private static final List<String> BUDGET = List.of("enabled", "capacity", "floor", "retries", "per", "overflow");

    private SettingsJson() {}

    static FleetSettings read(String json) {
        JsonFields in = JsonFields.of("settings", JsonReader.read(json), ALL);
        Map<String, TypeSettings> types = new TreeMap<>();
        Map<String, QueueSettings> queues = new TreeMap<>();
        Map<String, ResourceSettings> resources = new TreeMap<>();
        DefaultSettings[] defaults = {DefaultSettings.NONE};
        in.object("defaults", value -> defaults[0] = defaults(value));
        in.object("types", value -> named("types", value, types, SettingsJson::type));
        in.object("queues", value -> named("queues", value, queues, SettingsJson::queue));
        in.object("resources", value -> named("resources", value, resources, SettingsJson::resource));
        return new FleetSettings(defaults[0], types, queues, resources);
    }

    private static <T> void named(
            String kind, Object members, Map<String, T> into, BiFunction<String, Object, T> read) {
        ((Map<?, ?>) members).forEach((name, value) -> {
            String at = kind + "/" + name;
            if (!(value instanceof Map<?, ?>)) {
                throw Bounds.refused(at, JsonText.write(value), "an object");
            }
            into.put(String.valueOf(name), within(at, () -> read.apply(at, value)));
        });
    }

    /** Puts the place before the message of a refusal. */
    private static <T> T within(String at, Supplier<T> read) {
        try {
            return read.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(at + ": " + e.getMessage(), e);
        }
    }

    private static TypeSettings type(String what, Object value) {
        JsonFields in = JsonFields.of(what, value, TYPE);
        Integer[] concurrency = {null};
        in.integer("concurrency", jobs -> concurrency[0] = jobs);
        return new TypeSettings(policy(in), budget(in), concurrency[0]);
    }

    private static Map<String, @Nullable Object> write(TypeSettings type) {
        Map<String, @Nullable Object> out = write(type.policy());
        put(out, "budget", type.budget() == null ? null : write(type.budget()));
        put(out, "concurrency", type.concurrency());
        return out;
    }

    private static RetryPolicy policy(JsonFields in) {
        RetryPolicy[] policy = {RetryPolicy.unset()};
        in.object("policy", value -> policy[0] = RetryPolicy.fromJson(JsonText.write(value)));
        return policy[0];
    }

    private static QueueSettings queue(String what, Object value) {
        JsonFields in = JsonFields.of(what, value, QUEUE);
        Map<String, ClaimOrder> given = new LinkedHashMap<>();
        in.text("order", word -> given.put("order", order(word)));
        return new QueueSettings(policy(in), ceilings(in), given.get("order"), rules(in));
    }

    private static GroupRules rules(JsonFields in) {
        Map<String, Integer> weights = new TreeMap<>();
        Map<String, FlowLimit> groups = new TreeMap<>();
        Map<String, FlowLimit> types = new TreeMap<>();
        FlowLimit[] rate = {null};
        in.object("weights", value -> {
            List<String> names = names(value);
            JsonFields each = JsonFields.of("weights", value, names);
            names.forEach(name -> each.integer(name, weight -> weights.put(name, weight)));
        });
        in.object("perGroup", value -> limits("perGroup", value, groups));
        in.object("perType", value -> limits("perType", value, types));
        in.object("rate", value -> rate[0] = within("rate", () -> limit("rate", value)));
        return new GroupRules(weights, groups, types, Map.of(), rate[0], goal(in));
    }

    private static @Nullable StartGoal goal(JsonFields in) {
        Duration[] within = {null};
        boolean[] first = {false};
        in.duration("startWithin", time -> within[0] = time);
        in.bool("lateFirst", flag -> first[0] = flag);
        if (within[0] == null && first[0]) {
            throw Bounds.refused("lateFirst", "true", "given together with startWithin, such as 30s");
        }
        return within[0] == null ? null : new StartGoal(within[0], first[0]);
    }

    private static List<String> names(Object members) {
        return ((Map<?, ?>) members).keySet().stream().map(String::valueOf).toList();
    }

    private static void limits(String what, Object members, Map<String, FlowLimit> into) {
        ((Map<?, ?>) members).forEach((name, value) -> {
            String at = what + "/" + name;
            if (!(value instanceof Map<?, ?>)) {
                throw Bounds.refused(at, JsonText.write(value), "an object");
            }
            into.put(String.valueOf(name), within(at, () -> limit(at, value)));
        });
    }

    /** Reads a limit. An empty object takes a limit of the code away. */
    private static FlowLimit limit(String what, Object value) {
        JsonFields in = JsonFields.of(what, value, LIMIT);
        Map<String, Object> given = new LinkedHashMap<>();
        List.of("running", "starts", "burst").forEach(name -> in.integer(name, number -> given.put(name, number)));
        in.duration("per", time -> given.put("per", time));
        in.bool("inOrder", flag -> given.put("inOrder", flag));
        boolean ordered = Boolean.TRUE.equals(given.get("inOrder"));
        if (ordered) {
            given.putIfAbsent("running", 1);
        }
        Integer running = (Integer) given.get("running");
        Integer starts = (Integer) given.get("starts");
        Duration per = (Duration) given.get("per");
        Integer burst = (Integer) given.get("burst");
        if (starts == null || per == null) {
            if (starts != null || per != null || burst != null) {
                throw Bounds.refused("starts", String.valueOf(starts), "given together with per, such as 100 and 1m");
            }
            return new FlowLimit(running, null, null, 0, ordered);
        }
        FlowLimit rate = FlowLimit.rate(starts, per);
        return new FlowLimit(running, starts, per, burst == null ? rate.burst() : burst, ordered);
    }

    private static void write(Map<String, @Nullable Object> out, GroupRules rules) {
        put(out, "weights", rules.weights().isEmpty() ? null : new TreeMap<>(rules.weights()));
        put(out, "perGroup", write(rules.limits()));
        put(out, "perType", write(rules.types()));
        put(out, "rate", rules.ownRate() == null ? null : write(rules.ownRate()));
        put(out, "startWithin", rules.goal() == null ? null : rules.goal().within());
        put(out, "lateFirst", rules.isLateFirst() ? true : null);
    }

    private static @Nullable Map<String, @Nullable Object> write(Map<String, FlowLimit> limits) {
        Map<String, @Nullable Object> out = new TreeMap<>();
        limits.forEach((name, limit) -> out.put(name, write(limit)));
        return out.isEmpty() ? null : out;
    }

    private static Map<String, @Nullable Object> write(FlowLimit limit) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        put(out, "running", limit.ordered() ? null : limit.running());
        put(out, "inOrder", limit.ordered() ? true : null);
        put(out, "starts", limit.starts());
        put(out, "per", limit.per());
        put(out, "burst", limit.isRate() ? limit.burst() : null);
        return out;
    }

    private static ClaimOrder order(String word) {
        for (ClaimOrder each : ClaimOrder.values()) {
            if (each.name().equalsIgnoreCase(word)) {
                return each;
            }
        }
        throw Bounds.refused("order", word, "share, priority or creation");
    }

    private static Ceilings ceilings(JsonFields outer) {
        Ceilings[] ceilings = {Ceilings.NONE};
        outer.object("ceilings", value -> {
            JsonFields in = JsonFields.of("ceilings", value, CEILINGS);
            Map<String, Object> given = new LinkedHashMap<>();
            List.of("maxAttempts", "payloadBytes", "queueDepth")
                    .forEach(name -> in.integer(name, number -> given.put(name, number)));
            in.duration("deadline", duration -> given.put("deadline", duration));
            ceilings[0] = new Ceilings(
                    (Integer) given.get("maxAttempts"),
                    (Duration) given.get("deadline"),
                    (Integer) given.get("payloadBytes"),
                    (Integer) given.get("queueDepth"));
        });
        return ceilings[0];
    }

    private static Map<String, @Nullable Object> write(QueueSettings queue) {
        Map<String, @Nullable Object> out = write(queue.policy());
        put(out, "ceilings", write(queue.ceilings()));
        put(out, "order", queue.order() == null ? null : queue.order().name().toLowerCase(Locale.ROOT));
        write(out, queue.rules());
        return out;
    }

    private static @Nullable Map<String, @Nullable Object> write(Ceilings ceilings) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        put(out, "maxAttempts", ceilings.maxAttempts());
        put(out, "deadline", ceilings.deadline());
        put(out, "payloadBytes", ceilings.payloadBytes());
        put(out, "queueDepth", ceilings.queueDepth());
        return out.isEmpty() ? null : out;
    }

    private static ResourceSettings resource(String what, Object value) {
        JsonFields in = JsonFields.of(what, value, RESOURCE);
        FlowLimit[] rate = {null};
        in.object("rate", given -> rate[0] = within("rate", () -> limit("rate", given)));
        return new ResourceSettings(policy(in), breaker(in), budget(in), rate[0]);
    }

    private static DefaultSettings defaults(Object value) {
        JsonFields in = JsonFields.of("defaults", value, DEFAULTS);
        Map<String, Object> given = new LinkedHashMap<>();
        in.bool("retries", flag -> given.put("retries", flag));
        List.of("concurrency", "pool").forEach(name -> in.integer(name, number -> given.put(name, number)));
        List.of("poll", "keepFinished", "keepFailed", "keepAudit")
                .forEach(name -> in.duration(name, duration -> given.put(name, duration)));
        return new DefaultSettings(
                policy(in),
                (Boolean) given.get("retries"),
                (Duration) given.get("poll"),
                (Integer) given.get("concurrency"),
                (Integer) given.get("pool"),
                new DefaultSettings.Keep(
                        (Duration) given.get("keepFinished"), (Duration) given.get("keepFailed"), (Duration)
                                given.get("keepAudit")),
                alerts(in),
                breaker(in),
                budget(in),
                ceilings(in));
    }

    private static @Nullable AlertRules alerts(JsonFields outer) {
        Map<String, AlertRules> rules = new LinkedHashMap<>();
        outer.object("alerts", value -> rules.put("alerts", readAlerts(JsonFields.of("alerts", value, ALERTS))));
        return rules.get("alerts");
    }

    private static AlertRules readAlerts(JsonFields in) {
        AlertRules[] rules = {AlertRules.DEFAULT};
        in.integer("windowMinutes", minutes -> rules[0] = rules[0].windowMinutes(minutes));
        in.integer("minJobs", jobs -> rules[0] = rules[0].retryRate(rules[0].retryRate(), jobs));
        in.number("retryRate", rate -> rules[0] = rules[0].retryRate(rate, rules[0].minJobs()));
        in.integer("retryCount", count -> rules[0] = rules[0].retryCount(count));
        in.integer("deadLetters", count -> rules[0] = rules[0].deadLetters(count));
        in.duration("backoff", mean -> rules[0] = rules[0].backoff(mean));
        return rules[0];
    }

    private static @Nullable BreakerSettings breaker(JsonFields outer) {
        Map<String, BreakerSettings> settings = new LinkedHashMap<>();
        outer.object("breaker", value -> settings.put("", readBreaker(JsonFields.of("breaker", value, BREAKER))));
        return settings.get("");
    }

    private static BreakerSettings readBreaker(JsonFields in) {
        BreakerSettings usual = BreakerSettings.DEFAULT;
        Map<String, Object> given = new LinkedHashMap<>();
        in.bool("enabled", flag -> given.put("enabled", flag));
        in.list("counted", list -> given.put("counted", classes(list)));
        List.of("failureRate", "freshShare").forEach(name -> in.number(name, number -> given.put(name, number)));
        List.of("minSamples", "streak", "probes").forEach(name -> in.integer(name, number -> given.put(name, number)));
        List.of("window", "firstProbe", "longestProbe").forEach(name -> in.duration(name, d -> given.put(name, d)));
        return new BreakerSettings(
                get(given, "enabled", usual.enabled()),
                get(given, "counted", usual.counted()),
                get(given, "failureRate", usual.failureRate()),
                get(given, "minSamples", usual.minSamples()),
                get(given, "window", usual.window()),
                get(given, "streak", usual.streak()),
                get(given, "probes", usual.probes()),
                get(given, "firstProbe", usual.firstProbe()),
                get(given, "longestProbe", usual.longestProbe()),
                get(given, "freshShare", usual.freshShare()),
                0);
    }

    @SuppressWarnings("unchecked") // Each value was put with the type of its default.
    private static <T> T get(Map<String, Object> given, String name, T otherwise) {
        return (T) given.getOrDefault(name, otherwise);
    }

    private static Set<FailureClass> classes(List<?> names) {
        Set<FailureClass> classes = EnumSet.noneOf(FailureClass.class);
        for (Object name : names) {
            classes.add(Arrays.stream(FailureClass.values())
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> Bounds.refused(
                            "counted", JsonText.write(name), "one of " + Arrays.toString(FailureClass.values()))));
        }
        return classes;
    }

    private static @Nullable BudgetSettings budget(JsonFields outer) {
        Map<String, BudgetSettings> settings = new LinkedHashMap<>();
        outer.object("budget", value -> settings.put("", readBudget(JsonFields.of("budget", value, BUDGET))));
        return settings.get("");
    }

    private static BudgetSettings readBudget(JsonFields in) {
        BudgetSettings[] budget = {BudgetSettings.OF_RESOURCE};
        in.number("capacity", credits -> budget[0] = budget[0].capacity(credits));
        in.number("floor", retries -> budget[0] = budget[0].floor(retries));
        rate(in).ifPresent(rate -> budget[0] = budget[0].rate(rate.retries(), rate.per()));
        in.text("overflow", word -> budget[0] = budget[0].overflow(overflow(word)));
        in.bool("enabled", flag -> budget[0] = flag ? budget[0] : budget[0].off());
        return budget[0];
    }

    /** Reads a plain number of retries per period. It needs both members, and has neither capacity nor floor. */
    private static Optional<BudgetSettings.Rate> rate(JsonFields in) {
        Map<String, Object> given = new LinkedHashMap<>();
        in.integer("retries", number -> given.put("retries", number));
        in.duration("per", period -> given.put("per", period));
        if (given.isEmpty()) {
            return Optional.empty();
        }
        Object retries = given.get("retries");
        Object per = given.get("per");
        if (retries == null || per == null) {
            throw Bounds.refused(
                    "budget.retries", String.valueOf(retries), "given together with per, such as 100 and 1h");
        }
        in.number("capacity", credits -> {
            throw Bounds.refused("budget.capacity", credits, "left out if retries and per are given");
        });
        in.number("floor", floor -> {
            throw Bounds.refused("budget.floor", floor, "left out if retries and per are given");
        });
        return Optional.of(new BudgetSettings.Rate((Integer) retries, (Duration) per));
    }

    private static BudgetSettings.Overflow overflow(String word) {
        for (BudgetSettings.Overflow each : BudgetSettings.Overflow.values()) {
            if (each.name().equalsIgnoreCase(word)) {
                return each;
            }
        }
        throw Bounds.refused("budget.overflow", word, "wait or fail");
    }

    static String write(FleetSettings settings) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        Map<String, @Nullable Object> defaults = write(settings.defaults());
        if (!defaults.isEmpty()) {
            out.put("defaults", defaults);
        }
        putAll(out, "types", settings.types(), SettingsJson::write);
        putAll(out, "queues", settings.queues(), SettingsJson::write);
        putAll(out, "resources", settings.resources(), SettingsJson::write);
        return JsonText.write(out);
    }

    private static <T> void putAll(
            Map<String, @Nullable Object> out,
            String name,
            Map<String, T> values,
            Function<T, Map<String, @Nullable Object>> write) {
        if (!values.isEmpty()) {
            Map<String, Object> all = new LinkedHashMap<>();
            values.forEach((key, value) -> all.put(key, write.apply(value)));
            out.put(name, all);
        }
    }

    private static Map<String, @Nullable Object> write(RetryPolicy policy) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        if (!policy.equals(RetryPolicy.unset())) {
            out.put("policy", JsonReader.read(policy.toJson()));
        }
        return out;
    }

    private static Map<String, @Nullable Object> write(ResourceSettings resource) {
        Map<String, @Nullable Object> out = write(resource.policy());
        put(out, "breaker", resource.breaker() == null ? null : write(resource.breaker()));
        put(out, "budget", resource.budget() == null ? null : write(resource.budget()));
        put(out, "rate", resource.rate() == null ? null : write(resource.rate()));
        return out;
    }

    private static Map<String, @Nullable Object> write(DefaultSettings defaults) {
        Map<String, @Nullable Object> out = write(defaults.policy());
        put(out, "retries", defaults.retries());
        put(out, "poll", defaults.poll());
        put(out, "concurrency", defaults.concurrency());
        put(out, "pool", defaults.pool());
        put(out, "keepFinished", defaults.keep().finished());
        put(out, "keepFailed", defaults.keep().failed());
        put(out, "keepAudit", defaults.keep().audit());
        put(out, "alerts", defaults.alerts() == null ? null : write(defaults.alerts()));
        put(out, "breaker", defaults.breaker() == null ? null : write(defaults.breaker()));
        put(out, "budget", defaults.budget() == null ? null : write(defaults.budget()));
        put(out, "ceilings", write(defaults.ceilings()));
        return out;
    }

    private static Map<String, @Nullable Object> write(AlertRules rules) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        out.put("windowMinutes", rules.windowMinutes());
        out.put("retryRate", rules.retryRate());
        out.put("minJobs", rules.minJobs());
        out.put("retryCount", rules.retryCount());
        out.put("deadLetters", rules.deadLetters());
        out.put("backoff", rules.backoff());
        return out;
    }

    private static Map<String, @Nullable Object> write(BreakerSettings breaker) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        out.put("enabled", breaker.enabled());
        out.put("counted", breaker.counted().stream().map(Enum::name).sorted().toList());
        out.put("failureRate", breaker.failureRate());
        out.put("minSamples", breaker.minSamples());
        out.put("window", breaker.window());
        out.put("streak", breaker.streak());
        out.put("probes", breaker.probes());
        out.put("firstProbe", breaker.firstProbe());
        out.put("longestProbe", breaker.longestProbe());
        out.put("freshShare", breaker.freshShare());
        return out;
    }

    private static Map<String, @Nullable Object> write(BudgetSettings budget) {
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        out.put("enabled", budget.enabled());
        BudgetSettings.Rate rate = budget.rate();
        if (rate == null) {
            out.put("capacity", budget.capacity());
            out.put("floor", budget.floor());
        } else {
            out.put("retries", rate.retries());
            out.put("per", rate.per());
        }
        if (budget.overflow() != BudgetSettings.Overflow.WAIT) {
            out.put("overflow", budget.overflow().name().toLowerCase(Locale.ROOT));
        }
        return out;
    }

    private static void put(Map<String, @Nullable Object> out, String name, @Nullable Object value) {
        if (value != null) {
            out.put(name, value);
        }
    }
}
