// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.insight.JobEvent.Kind;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Settlement;
import io.reprise.text.JsonFields;
import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The place of a job in a chain: the job that it follows, and the jobs that follow it. It is stored with the job as JSON
 * text. The followers are complete specs, so a worker needs no configuration to store them.
 *
 * @param after the job that this one follows; null if it follows none
 * @param links the jobs that follow, at all levels; a link stands behind the one that it follows
 */
public record Chain(@Nullable JobId after, List<Link> links) {

    /** Jobs that follow one job, at all levels. */
    public static final int MAX_LINKS = 100;

    /** Stands for the job that carries the chain, in place of the number of a link. */
    public static final int CARRIER = -1;

    /**
     * A job that follows.
     *
     * @param of number of the link that it follows, or {@link #CARRIER}
     * @param whenDead whether it follows the dead letter; otherwise it follows the success
     * @param spec the job; its own chain is empty
     */
    public record Link(int of, boolean whenDead, JobSpec spec) {}

    private static final List<String> FIELDS = List.of("after", "policies", "links");
    private static final List<String> LINK_FIELDS = List.of(
            "of",
            "when",
            "type",
            "payload",
            "queue",
            "priority",
            "policy",
            "delayUs",
            "dueAt",
            "resource",
            "group",
            "tags",
            "key",
            "idempotencyKey",
            "timeoutUs");
    private static final String DEAD = "dead";
    private static final String SUCCESS = "success";

    /**
     * Checks the links.
     *
     * @throws IllegalArgumentException if there are more than {@link #MAX_LINKS}, one stands before the link that it
     *     follows, or the store could refuse one
     */
    public Chain {
        links = List.copyOf(links);
        if (links.size() > MAX_LINKS) {
            throw new IllegalArgumentException("At most " + MAX_LINKS + " jobs can follow a job, not " + links.size());
        }
        for (int i = 0; i < links.size(); i++) {
            Link link = links.get(i);
            if (link.of < CARRIER || link.of >= i) {
                throw new IllegalArgumentException("Link " + i + " of a chain follows link " + link.of);
            }
            Settlement.FollowUps.requireHarmless(link.spec);
        }
    }

    /** Reads the chain of a job; empty if the job is in none. */
    public static Optional<Chain> of(JobSpec spec) {
        return Optional.ofNullable(spec.chain()).map(Chain::fromJson);
    }

    /** Returns the jobs of its chain that follow this event of a job, each with its own part of the chain. */
    static List<JobSpec> after(Kind kind, Job job) {
        return kind == Kind.SUCCEEDED || kind == Kind.FAILED
                ? of(job.spec())
                        .map(chain -> chain.followers(kind == Kind.FAILED, job.id()))
                        .orElse(List.of())
                : List.of();
    }

    private List<JobSpec> followers(boolean dead, JobId job) {
        List<JobSpec> followers = new ArrayList<>();
        for (int i = 0; i < links.size(); i++) {
            Link link = links.get(i);
            if (link.of == CARRIER && link.whenDead == dead) {
                Chain own = new Chain(job, below(i));
                followers.add(link.spec.toBuilder().chain(own.toJson()).build());
            }
        }
        return followers;
    }

    private List<Link> below(int root) {
        Map<Integer, Integer> numbers = new HashMap<>(Map.of(root, CARRIER));
        List<Link> below = new ArrayList<>();
        for (int i = root + 1; i < links.size(); i++) {
            Link link = links.get(i);
            Integer of = numbers.get(link.of);
            if (of != null) {
                numbers.put(i, below.size());
                below.add(new Link(of, link.whenDead, link.spec));
            }
        }
        return below;
    }

    /**
     * Writes the chain as JSON text. Equal chains give equal text. The links name their policies by number: a policy is much
     * longer than the rest of a link, and a short request may have many links.
     */
    public String toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        if (after != null) {
            json.put("after", after.value());
        }
        List<RetryPolicy> policies =
                links.stream().map(link -> link.spec.policy()).distinct().toList();
        if (!policies.isEmpty()) {
            json.put("policies", policies.stream().map(RetryPolicy::toJson).toList());
        }
        json.put(
                "links",
                links.stream()
                        .map(link -> json(link, policies.indexOf(link.spec.policy())))
                        .toList());
        return JsonText.write(json);
    }

    private static Map<String, Object> json(Link link, int policy) {
        JobSpec spec = link.spec;
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("of", link.of);
        json.put("when", link.whenDead ? DEAD : SUCCESS);
        json.put("type", spec.type());
        json.put("payload", spec.payload());
        json.put("queue", spec.queue());
        json.put("priority", spec.priority());
        json.put("policy", policy);
        if (!spec.delay().isZero()) {
            json.put("delayUs", micros(spec.delay()));
        }
        put(json, "dueAt", spec.dueAt());
        put(json, "resource", spec.resource());
        put(json, "group", spec.group());
        if (!spec.tags().isEmpty()) {
            json.put("tags", List.copyOf(spec.tags()));
        }
        put(json, "key", spec.key());
        put(json, "idempotencyKey", spec.idempotencyKey());
        Duration timeout = spec.timeout();
        if (timeout != null) {
            json.put("timeoutUs", micros(timeout));
        }
        return json;
    }

    private static void put(Map<String, Object> json, String name, @Nullable Object value) {
        if (value != null) {
            json.put(name, value.toString());
        }
    }

    private static long micros(Duration duration) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.EPOCH.plus(duration));
    }

    private static Chain fromJson(String text) {
        JsonFields fields = JsonFields.of("A chain", JsonReader.read(text), FIELDS);
        List<Link> links = new ArrayList<>();
        List<JobId> after = new ArrayList<>();
        List<RetryPolicy> policies = new ArrayList<>();
        fields.wholeNumber("after", id -> after.add(new JobId(id)));
        fields.list(
                "policies",
                list -> list.forEach(each -> policies.add(RetryPolicy.fromJson(fields.asText("policies", each)))));
        fields.list("links", list -> list.forEach(each -> links.add(link(each, policies))));
        return new Chain(after.isEmpty() ? null : after.get(0), links);
    }

    /** Reads the policy of a link: the number of one of the chain, or its text, as chains were written at first. */
    private static RetryPolicy policy(JsonFields fields, @Nullable Object json, List<RetryPolicy> policies) {
        Object policy = json instanceof Map<?, ?> link ? link.get("policy") : null;
        if (policy instanceof String text) {
            return RetryPolicy.fromJson(text);
        }
        int number = fields.asInteger("policy", policy);
        if (number < 0 || number >= policies.size()) {
            throw new IllegalArgumentException("A job of a chain has policy " + number + " of " + policies.size());
        }
        return policies.get(number);
    }

    private static Link link(@Nullable Object json, List<RetryPolicy> policies) {
        JsonFields fields = JsonFields.of("A job of a chain", json, LINK_FIELDS)
                .require("of", "when", "type", "payload", "queue", "policy");
        Map<String, String> texts = new HashMap<>();
        for (String name : List.of("when", "type", "payload")) {
            fields.text(name, text -> texts.put(name, text));
        }
        JobSpec.Builder spec = JobSpec.builder(texts.getOrDefault("type", ""), texts.getOrDefault("payload", ""));
        fields.text("queue", spec::queue);
        fields.integer("priority", spec::priority);
        spec.policy(policy(fields, json, policies));
        fields.wholeNumber("delayUs", us -> spec.delay(Duration.of(us, ChronoUnit.MICROS)));
        fields.text("dueAt", text -> spec.dueAt(Instant.parse(text)));
        fields.text("resource", spec::resource);
        fields.text("group", spec::group);
        fields.list("tags", tags -> {
            LinkedHashSet<String> names = new LinkedHashSet<>();
            tags.forEach(tag -> names.add(fields.asText("tags", tag)));
            spec.tags(names);
        });
        fields.text("key", key -> spec.key(key, KeyRule.KEEP));
        fields.text("idempotencyKey", spec::idempotencyKey);
        fields.wholeNumber("timeoutUs", us -> spec.timeout(Duration.of(us, ChronoUnit.MICROS)));
        List<Integer> of = new ArrayList<>();
        fields.integer("of", of::add);
        return new Link(of.get(0), DEAD.equals(texts.get("when")), spec.build());
    }
}
