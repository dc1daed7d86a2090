// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.Queue;
import io.reprise.Resource;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlLint;
import io.reprise.control.ControlSettings;
import io.reprise.fairness.FlowLimit;
import io.reprise.retry.RetryPlan.Warning;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.ResourceSettings;
import io.reprise.settings.TypeSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the breaker and budget settings of a resource or queue: the resource's own settings, or the worker's. In both
 * the fleet's settings come before those of the code. Thread-safe.
 */
public final class ControlConfig {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private static final BudgetSettings NO_BUDGET = BudgetSettings.OF_RESOURCE.off();

    private final ControlSettings settings;
    private final Map<String, Resource> resources;
    private final LiveSettings live;
    private final Supplier<Map<String, FlowLimit>> ofOthers;
    /** Rates that other workers have in their code. */
    private volatile Map<String, FlowLimit> learned = Map.of();

    public ControlConfig(ControlSettings settings, Collection<Resource> resources, LiveSettings live) {
        this(settings, resources, live, Map::of);
    }

    /**
     * Creates rules for a process that may lead workers with other code.
     *
     * @param ofOthers reads the rates that live workers have in their code, by resource
     */
    public ControlConfig(
            ControlSettings settings,
            Collection<Resource> resources,
            LiveSettings live,
            Supplier<Map<String, FlowLimit>> ofOthers) {
        this.live = live;
        this.ofOthers = ofOthers;
        this.settings = settings;
        this.resources = resources.stream().collect(Collectors.toMap(Resource::name, Function.identity()));
    }

    /**
     * Returns warnings about settings with which a resource cannot recover.
     *
     * @param own policies of types and queues
     * @param global policy beneath them
     */
    public List<Warning> lint(Collection<RetryPolicy> own, RetryPolicy global) {
        List<RetryPolicy> usual = layered(own, global);
        List<Warning> warnings =
                new ArrayList<>(ControlLint.of("a resource", settings.breaker(), settings.resourceBudget(), usual));
        ControlLint.budget("a queue", settings.queueBudget()).ifPresent(warnings::add);
        ControlLint.budget("all jobs", settings.budget()).ifPresent(warnings::add);
        for (Resource resource : resources.values()) {
            ControlLint.deadline(
                            "resource '" + resource.name() + "'",
                            breaker(resource.name()),
                            resource.policy().orElse(global))
                    .ifPresent(warnings::add);
            if (resource.breaker() != null || resource.budget() != null) {
                String name = resource.name();
                warnings.addAll(ControlLint.of(
                        "resource '" + name + "'",
                        breaker(name),
                        budget(ControlKey.budgetOfResource(name)),
                        layered(own, resource.policy().orElse(global))));
            }
        }
        return warnings;
    }

    /** Returns warnings about rate limits of queues and their groups that are too low to recover. */
    public static List<Warning> rates(Collection<Queue> queues, Duration lease) {
        List<Warning> warnings = new ArrayList<>();
        for (Queue queue : queues) {
            String name = "queue '" + queue.name() + "'";
            ControlLint.rate(name, queue.groups().rate().spacing(), lease).ifPresent(warnings::add);
            new TreeMap<>(queue.groups().limits())
                    .forEach((group, limit) -> ControlLint.rate(
                                    "group '" + group + "' of " + name, limit.spacing(), lease)
                            .ifPresent(warnings::add));
            new TreeMap<>(queue.groups().types())
                    .forEach((type, limit) -> ControlLint.rate("type '" + type + "' in " + name, limit.spacing(), lease)
                            .ifPresent(warnings::add));
        }
        return warnings;
    }

    /** Returns the policies that jobs can have: each own policy over {@code below}, and {@code below} alone. */
    private static List<RetryPolicy> layered(Collection<RetryPolicy> own, RetryPolicy below) {
        return Stream.concat(own.stream().map(policy -> policy.orElse(below)), Stream.of(below))
                .toList();
    }

    Set<String> resources() {
        return resources.keySet();
    }

    /** Resources whose calls have a rate. */
    Set<String> rated() {
        Set<String> names = new TreeSet<>(resources.keySet());
        names.addAll(live.now().resources().keySet());
        names.addAll(learned.keySet());
        names.removeIf(name -> !rate(name).isRate());
        return names;
    }

    /** Returns the rates that this process has in its code, by resource. */
    public Map<String, FlowLimit> codeRates() {
        Map<String, FlowLimit> rates = new TreeMap<>();
        resources.forEach((name, resource) -> {
            if (resource.rate().isRate()) {
                rates.put(name, resource.rate());
            }
        });
        return rates;
    }

    /**
     * Reads the rates that other workers have in their code, if this process may not know that of one of these resources.
     * Without them a leader would let jobs go that the workers park again at once.
     */
    void learnRates(Collection<String> used) {
        if (!learned.isEmpty() || used.stream().anyMatch(name -> !rate(name).isRate())) {
            Map<String, FlowLimit> before = learned;
            learned = ofOthers.get();
            before.keySet().stream()
                    .filter(name -> !learned.containsKey(name) && !rate(name).isRate() && told(name) == null)
                    .forEach(name -> log.warn(
                            "No live worker has the rate of resource '{}' in its code any more, so the rate ends. Put it into"
                                    + " the code of every worker that runs such jobs, or into the settings",
                            name));
        }
    }

    private FlowLimit rate(String resource) {
        FlowLimit told = told(resource);
        if (told != null) {
            return told;
        }
        Resource own = resources.get(resource);
        return own != null && own.rate().isRate() ? own.rate() : learned.getOrDefault(resource, FlowLimit.NONE);
    }

    private @Nullable FlowLimit told(String resource) {
        return live.now()
                .resources()
                .getOrDefault(resource, ResourceSettings.NONE)
                .rate();
    }

    /** A resource with a rate has a breaker that keeps it, also if no failure opens that breaker. */
    BreakerSettings breaker(String resource) {
        BreakerSettings breaker = breakerOf(resource);
        FlowLimit rate = rate(resource);
        if (rate.starts() == null || rate.per() == null) {
            return breaker;
        }
        BreakerSettings kept = breaker.enabled() ? breaker : BreakerSettings.DEFAULT.counted(Set.of());
        return kept.rate(rate.starts() * 1e9 / rate.per().toNanos());
    }

    private BreakerSettings breakerOf(String resource) {
        FleetSettings fleet = live.now();
        BreakerSettings told =
                fleet.resources().getOrDefault(resource, ResourceSettings.NONE).breaker();
        if (told != null) {
            return told;
        }
        Resource own = resources.get(resource);
        if (own != null && own.breaker() != null) {
            return own.breaker();
        }
        return fleet.defaults().breaker() == null
                ? settings.breaker()
                : fleet.defaults().breaker();
    }

    BudgetSettings budget(ControlKey key) {
        return switch (key.kind()) {
            case QUEUE_BUDGET -> settings.queueBudget();
            case TYPE_BUDGET -> budgetOfType(key.type());
            case BUDGET -> settings.budget();
            case RESOURCE_BUDGET, BREAKER -> budgetOf(key.subject());
        };
    }

    private BudgetSettings budgetOfType(String type) {
        BudgetSettings told =
                live.now().types().getOrDefault(type, TypeSettings.NONE).budget();
        return told == null ? NO_BUDGET : told;
    }

    private BudgetSettings budgetOf(String resource) {
        FleetSettings fleet = live.now();
        BudgetSettings told =
                fleet.resources().getOrDefault(resource, ResourceSettings.NONE).budget();
        if (told != null) {
            return told;
        }
        Resource own = resources.get(resource);
        if (own != null && own.budget() != null) {
            return own.budget();
        }
        return fleet.defaults().budget() == null
                ? settings.resourceBudget()
                : fleet.defaults().budget();
    }
}
