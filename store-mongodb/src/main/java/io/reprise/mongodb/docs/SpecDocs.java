// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.batch.Membership;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.Backoff;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Converts a spec to fields of a document and back. */
public final class SpecDocs {

    public static final String PAYLOAD = "payload";
    /** Length of the payload as text, for the quota of a tenant. */
    public static final String PAYLOAD_BYTES = "payload_bytes";

    private static final String POLICY = "policy";
    /** A summary of the policy for people. The store uses the field {@code policy}. */
    private static final String BACKOFF_POLICY = "backoff_policy";

    /** The fields that hold the policy. */
    public static final List<String> POLICY_FIELDS = List.of(POLICY, BACKOFF_POLICY);

    private static final String RESOURCE = "resource";
    public static final String TAGS = "tags";
    private static final String KEY = "key";
    private static final String KEY_RULE = "key_rule";
    private static final String IDEMPOTENCY_KEY = "idempotency_key";
    private static final String SCHEDULE = "schedule";
    public static final String CHAIN = "chain";
    private static final String DELAY = "delay_us";
    private static final String ASKED = "asked_us";
    private static final String TIMEOUT = "timeout_us";

    /** Stands for a stored type that is no valid name. */
    private static final String UNREADABLE = "unreadable";

    private static final int MAX_POLICIES = 1_000;

    private final Map<String, RetryPolicy> policies = new ConcurrentHashMap<>();

    /**
     * A spec that was read.
     *
     * @param damage what is wrong with the document; null if nothing is. The spec then holds the readable fields
     */
    public record Read(JobSpec spec, @Nullable String damage) {}

    /** Returns every field of a spec; null where the spec has no value. */
    public static Document write(JobSpec spec) {
        return new Document(FieldNames.QUEUE, spec.queue())
                .append(FieldNames.TYPE, spec.type())
                .append(FieldNames.PRIORITY, spec.priority())
                .append(PAYLOAD, PayloadDocs.write(spec.payload()))
                .append(PAYLOAD_BYTES, PayloadDocs.bytes(spec.payload()))
                .append(POLICY, spec.policy().toJson())
                .append(BACKOFF_POLICY, backoff(spec.policy()))
                .append(DELAY, spec.delay().isZero() ? null : MongoTime.of(spec.delay()))
                .append(ASKED, MongoTime.ofNullable(spec.dueAt()))
                .append(RESOURCE, spec.resource())
                .append(FieldNames.GROUP, spec.group())
                .append(TAGS, spec.tags().isEmpty() ? null : List.copyOf(spec.tags()))
                .append(KEY, spec.key())
                .append(KEY_RULE, spec.key() == null ? null : spec.keyRule().name())
                .append(IDEMPOTENCY_KEY, spec.idempotencyKey())
                .append(TIMEOUT, MongoTime.ofNullable(spec.timeout()))
                .append(SCHEDULE, spec.schedule())
                .append(CHAIN, spec.chain())
                .append(FieldNames.BATCH, spec.batch());
    }

    private static @Nullable Document backoff(RetryPolicy policy) {
        Document readable = new Document();
        policy.backoff()
                .filter(curve -> !(curve instanceof Backoff.Exponential))
                .ifPresent(curve -> readable.append("curve", name(curve)));
        policy.base().ifPresent(base -> readable.append("base_sec", seconds(base)));
        policy.factor().ifPresent(factor -> readable.append("factor", factor));
        policy.cap().toOptional().ifPresent(cap -> readable.append("max_sec", seconds(cap)));
        policy.jitter().ifPresent(jitter -> readable.append("jitter", jitter.text()));
        policy.backoff()
                .filter(Backoff.Table.class::isInstance)
                .map(Backoff.Table.class::cast)
                .ifPresent(table -> readable.append(
                        "table_sec",
                        table.delays().stream().map(SpecDocs::seconds).toList()));
        return readable.isEmpty() ? null : readable;
    }

    private static String name(Backoff curve) {
        return curve.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1_000.0;
    }

    /** Marks a payload that was left out on purpose: a missing payload would count as damage. */
    public static void withoutPayload(Document document) {
        document.append(PAYLOAD, "null");
    }

    /** Reads any document: one damaged job must not stop a list or a claim. */
    public Read read(Document document) {
        try {
            String type = Objects.requireNonNull(FieldNames.text(document, FieldNames.TYPE), "the job has no type");
            String payload = Objects.requireNonNull(PayloadDocs.read(document.get(PAYLOAD)), "the job has no payload");
            JobSpec.Builder spec = JobSpec.builder(type, payload);
            settings(document, spec).forEach(Runnable::run);
            return new Read(spec.build(), null);
        } catch (RuntimeException e) {
            return new Read(mended(document), Objects.requireNonNullElse(e.getMessage(), e.toString()));
        }
    }

    private JobSpec mended(Document document) {
        String type = Objects.requireNonNullElse(FieldNames.text(document, FieldNames.TYPE), UNREADABLE);
        String payload = mendedPayload(document);
        JobSpec.Builder spec = JobSpec.builder(
                isGood(() -> JobSpec.requireName(FieldNames.TYPE, type)) ? type : UNREADABLE,
                isGood(() -> JobSpec.builder(UNREADABLE, payload)) ? payload : "null");
        settings(document, spec).forEach(SpecDocs::isGood);
        return spec.build();
    }

    private static String mendedPayload(Document document) {
        try {
            return Objects.requireNonNullElse(PayloadDocs.read(document.get(PAYLOAD)), "null");
        } catch (RuntimeException e) {
            return "null";
        }
    }

    /** Sets another payload. */
    public static void payload(Change change, String payload) {
        change.set(PAYLOAD, PayloadDocs.write(payload)).set(PAYLOAD_BYTES, PayloadDocs.bytes(payload));
    }

    private static boolean isGood(Runnable check) {
        try {
            check.run();
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** Returns the setters. Each may throw for a damaged value. */
    private List<Runnable> settings(Document from, JobSpec.Builder spec) {
        List<Runnable> settings = new ArrayList<>();
        settings.add(() -> spec.queue(from.getString(FieldNames.QUEUE)));
        settings.add(
                () -> spec.priority(from.get(FieldNames.PRIORITY, Number.class).intValue()));
        settings.add(() -> spec.policy(policy(from.getString(POLICY))));
        settings.add(() -> spec.resource(from.getString(RESOURCE)));
        settings.add(() -> spec.group(from.getString(FieldNames.GROUP)));
        settings.add(() -> spec.idempotencyKey(from.getString(IDEMPOTENCY_KEY)));
        settings.add(() -> spec.timeout(MongoTime.durationOrNull(FieldNames.number(from, TIMEOUT))));
        settings.add(() -> spec.schedule(from.getString(SCHEDULE)));
        settings.add(() -> spec.chain(from.getString(CHAIN)));
        settings.add(() -> {
            Membership member = member(from);
            spec.batch(member == null ? null : member.toText());
        });
        if (from.containsKey(DELAY)) {
            settings.add(() ->
                    spec.delay(MongoTime.duration(from.get(DELAY, Number.class).longValue())));
        } else if (from.containsKey(ASKED)) {
            settings.add(() ->
                    spec.dueAt(MongoTime.instant(from.get(ASKED, Number.class).longValue())));
        }
        if (from.containsKey(TAGS)) {
            settings.add(() -> spec.tags(new LinkedHashSet<>(from.getList(TAGS, String.class))));
        }
        if (from.containsKey(KEY)) {
            settings.add(() -> spec.key(from.getString(KEY), rule(from)));
        }
        return settings;
    }

    /**
     * Returns the batch of a job; null if it is in none.
     *
     * @throws IllegalArgumentException if the field is damaged
     */
    public static @Nullable Membership member(Document from) {
        String text = from.getString(FieldNames.BATCH);
        return text == null ? null : Membership.parse(text);
    }

    private static KeyRule rule(Document from) {
        return Objects.requireNonNullElse(
                FieldNames.constant(KeyRule.class, from.get(KEY_RULE), KeyRule.KEEP), KeyRule.KEEP);
    }

    private RetryPolicy policy(String json) {
        RetryPolicy known = policies.get(json);
        if (known == null) {
            known = RetryPolicy.fromJson(json);
            if (policies.size() < MAX_POLICIES) {
                policies.put(json, known);
            }
        }
        return known;
    }
}
