// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.Queue;
import io.reprise.fairness.FlowGate.Reached.Of;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.QueueLimit;
import io.reprise.insight.QueueLimit.From;
import io.reprise.job.JobSpec.Needs;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.Ceilings;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.QueueSettings;
import io.reprise.settings.ResourceSettings;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import io.reprise.store.JobStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits that workers have in their code. Each worker that has some stores them in a document under its name, so that
 * others can show them. No claim reads these documents.
 */
public final class CodeLimits {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private static final String KIND = "worker-limits";

    private CodeLimits() {}

    /**
     * Stores the limits of a live worker if they are not stored, and deletes those of workers that are gone.
     *
     * @param rates rates of resources, by their names
     */
    public static void tell(JobStore store, String worker, Collection<Queue> queues, Map<String, FlowLimit> rates) {
        Map<String, QueueSettings> limited = new TreeMap<>();
        queues.stream()
                .filter(queue -> queue.groups().isLimited())
                .limit(FleetSettings.MAX_NAMES)
                .forEach(queue -> limited.put(queue.name(), settings(queue.groups())));
        if (limited.isEmpty() && rates.isEmpty()) {
            return;
        }
        String json = settings(limited, rates).toJson();
        Optional<Document> before = store.document(KIND, worker);
        // A text of letters has as many bytes as characters.
        if (json.length() > Document.MAX_BYTES / 3
                || before.filter(document -> document.json().equals(json)).isPresent()) {
            return;
        }
        // Nobody else writes under this name. Another worker that took this one for dead may have removed it
        // meanwhile. The next report stores it again.
        boolean stored = store.putDocument(
                        new Document(KIND, worker, before.map(Document::version).orElse(0L), json))
                .isPresent();
        if (stored) {
            Set<String> live = live(store);
            documents(store).stream()
                    .filter(document -> !live.contains(document.id()))
                    .forEach(store::removeDocument);
        }
    }

    /** Deletes the limits of a worker that stops. */
    public static void forget(JobStore store, String worker, Collection<Queue> queues, Map<String, FlowLimit> rates) {
        if (!rates.isEmpty() || queues.stream().anyMatch(queue -> queue.groups().isLimited())) {
            store.document(KIND, worker).ifPresent(store::removeDocument);
        }
    }

    private static FleetSettings settings(Map<String, QueueSettings> queues, Map<String, FlowLimit> rates) {
        Map<String, ResourceSettings> resources = new TreeMap<>();
        rates.entrySet().stream()
                .limit(FleetSettings.MAX_NAMES)
                .forEach(rate -> resources.put(
                        rate.getKey(), new ResourceSettings(RetryPolicy.unset(), null, null, rate.getValue())));
        return new FleetSettings(FleetSettings.NONE.defaults(), Map.of(), queues, resources);
    }

    private static QueueSettings settings(GroupRules rules) {
        return new QueueSettings(RetryPolicy.unset(), Ceilings.NONE, null, rules);
    }

    /** Returns the rules that live workers have in their code for this queue, one entry for each of them. */
    public static List<GroupRules> of(JobStore store, String queue) {
        List<GroupRules> rules = new ArrayList<>();
        for (FleetSettings settings : all(store)) {
            Map<String, QueueSettings> queues = settings.queues();
            QueueSettings own = queues.getOrDefault(queue, queues.get(Needs.base(queue)));
            if (own != null) {
                rules.add(own.rules());
            }
        }
        return rules;
    }

    /** Returns the rates that live workers have in their code, by resource: the lowest if they differ. */
    public static Map<String, FlowLimit> rates(JobStore store) {
        Map<String, FlowLimit> rates = new TreeMap<>();
        for (FleetSettings settings : all(store)) {
            settings.resources().forEach((name, resource) -> {
                FlowLimit rate = resource.rate();
                if (rate != null && rate.isRate()) {
                    rates.merge(name, rate, (one, other) -> one.spacing().compareTo(other.spacing()) < 0 ? other : one);
                }
            });
        }
        return rates;
    }

    /** Returns what live workers have stored, one entry for each of them. */
    private static List<FleetSettings> all(JobStore store) {
        List<Document> documents = documents(store);
        if (documents.isEmpty()) {
            return List.of();
        }
        Set<String> live = live(store);
        return documents.stream()
                .filter(document -> live.contains(document.id()))
                .map(CodeLimits::settings)
                .toList();
    }

    /** Returns nothing if a newer worker wrote what this one cannot read. */
    private static FleetSettings settings(Document document) {
        try {
            return FleetSettings.fromJson(document.json());
        } catch (IllegalArgumentException e) {
            log.debug("The limits of worker {} cannot be read: {}", document.id(), e.getMessage());
            return FleetSettings.NONE;
        }
    }

    private static List<Document> documents(JobStore store) {
        return store.documents(KIND, DocumentStore.MAX_DOCUMENTS, null).items();
    }

    private static Set<String> live(JobStore store) {
        return store.workers().stream().map(worker -> worker.report().name()).collect(Collectors.toSet());
    }

    /**
     * Returns the limits of a queue. What the settings name comes before the code, name by name.
     *
     * @param told the rules of the settings
     * @param code the rules of each worker
     */
    public static List<QueueLimit> joined(GroupRules told, List<GroupRules> code) {
        Map<QueueLimit, Integer> workers = new LinkedHashMap<>();
        limits(told, From.SETTINGS).forEach(limit -> workers.put(limit, 0));
        for (GroupRules rules : code) {
            limits(rules, From.CODE).stream()
                    .filter(limit -> !isTold(told, limit.of(), limit.name()))
                    .forEach(limit -> workers.merge(limit, 1, Integer::sum));
        }
        List<QueueLimit> limits = new ArrayList<>();
        workers.forEach((limit, count) ->
                limits.add(new QueueLimit(limit.of(), limit.name(), limit.limit(), limit.from(), count)));
        return limits;
    }

    private static boolean isTold(GroupRules told, Of of, String name) {
        return switch (of) {
            case QUEUE -> told.ownRate() != null;
            case GROUP -> told.limits().containsKey(name);
            case TYPE -> told.types().containsKey(name);
        };
    }

    private static List<QueueLimit> limits(GroupRules rules, From from) {
        List<QueueLimit> limits = new ArrayList<>();
        if (rules.rate().isRate()) {
            limits.add(new QueueLimit(Of.QUEUE, "", rules.rate(), from, 0));
        }
        add(limits, Of.GROUP, rules.limits(), from);
        add(limits, Of.TYPE, rules.types(), from);
        return limits;
    }

    private static void add(List<QueueLimit> limits, Of of, Map<String, FlowLimit> named, From from) {
        new TreeMap<>(named).forEach((name, limit) -> limits.add(new QueueLimit(of, name, limit, from, 0)));
    }
}
