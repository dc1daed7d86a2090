// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static io.reprise.jdbc.sql.ColumnArrays.Kind.NUMBER;
import static io.reprise.jdbc.sql.ColumnArrays.Kind.TEXT;

import io.reprise.jdbc.sql.ColumnArrays;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Converts a spec to columns and back, in the order of {@code {spec}}. */
public final class SpecColumns {

    /** The types of the columns. */
    public static final List<ColumnArrays.Kind> KINDS =
            List.of(TEXT, TEXT, NUMBER, TEXT, NUMBER, NUMBER, NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, TEXT);

    /** Index of the policy among the values. */
    public static final int POLICY = 4;

    /** Stands for a stored type that is no valid name. */
    private static final String UNREADABLE = "unreadable";

    private final PolicyTable policies;

    public SpecColumns(PolicyTable policies) {
        this.policies = policies;
    }

    public @Nullable Object[] values(JobSpec spec) {
        return new @Nullable Object[] {
            spec.queue(),
            spec.type(),
            spec.priority(),
            spec.payload(),
            policies.id(spec.policy()),
            delay(spec),
            asked(spec),
            spec.resource(),
            tags(spec.tags()),
            spec.key(),
            spec.key() == null ? null : spec.keyRule(),
            spec.idempotencyKey(),
            SqlTime.ofNullable(spec.timeout()),
            spec.schedule()
        };
    }

    static @Nullable Long delay(JobSpec spec) {
        return spec.delay().isZero() ? null : SqlTime.of(spec.delay());
    }

    static @Nullable Long asked(JobSpec spec) {
        return SqlTime.ofNullable(spec.dueAt());
    }

    /** Returns when the job is due if it is stored now. */
    public static long due(JobSpec spec, long now) {
        Long asked = asked(spec);
        Long delay = delay(spec);
        return Math.max(now, asked != null ? asked : now + (delay == null ? 0 : delay));
    }

    /** Returns how long after the first due time runs may start, as the policy says. */
    public static @Nullable Long deadline(JobSpec spec) {
        return SqlTime.ofNullable(spec.policy().deadline().toOptional().orElse(null));
    }

    /**
     * A spec that was read.
     *
     * @param damage what is wrong with the row; null if nothing is. The spec then holds the readable columns
     */
    public record Read(JobSpec spec, @Nullable String damage) {}

    /** Reads any row: one damaged job must not stop a list or a claim. */
    Read read(SqlRow row, Session session) throws SQLException {
        Values values = new Values(
                row.text(),
                row.text(),
                row.integer(),
                row.text(),
                policies.find(session, row.numberOrNull()),
                row.durationOrNull(),
                row.instantOrNull(),
                row.textOrNull(),
                row.textOrNull(),
                row.textOrNull(),
                row.constantOrNull(KeyRule.class, KeyRule.KEEP),
                row.textOrNull(),
                row.durationOrNull(),
                row.textOrNull());
        try {
            JobSpec.Builder spec = JobSpec.builder(values.type, values.payload);
            values.settings(spec).forEach(Runnable::run);
            return new Read(spec.build(), null);
        } catch (RuntimeException e) {
            return new Read(mended(values), Objects.requireNonNullElse(e.getMessage(), e.toString()));
        }
    }

    private static JobSpec mended(Values values) {
        JobSpec.Builder spec = JobSpec.builder(
                isGood(() -> JobSpec.requireName("type", values.type)) ? values.type : UNREADABLE,
                isGood(() -> JobSpec.builder(UNREADABLE, values.payload)) ? values.payload : "null");
        values.settings(spec).forEach(SpecColumns::isGood);
        return spec.build();
    }

    private static boolean isGood(Runnable check) {
        try {
            check.run();
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** The columns of a row. */
    private record Values(
            String queue,
            String type,
            int priority,
            String payload,
            RetryPolicy policy,
            @Nullable Duration delay,
            @Nullable Instant asked,
            @Nullable String resource,
            @Nullable String tags,
            @Nullable String key,
            @Nullable KeyRule rule,
            @Nullable String idempotencyKey,
            @Nullable Duration timeout,
            @Nullable String schedule) {

        /** Returns the setters. Each may throw for a damaged value. */
        List<Runnable> settings(JobSpec.Builder spec) {
            List<Runnable> settings = new ArrayList<>(8);
            settings.add(() -> spec.queue(queue));
            settings.add(() -> spec.priority(priority));
            settings.add(() -> spec.policy(policy));
            add(settings, delay, spec::delay);
            add(settings, delay == null ? asked : null, spec::dueAt);
            add(settings, resource, spec::resource);
            add(settings, tags, text -> spec.tags(split(text)));
            if (key != null && rule != null) {
                settings.add(keyed(spec, key, rule));
            }
            add(settings, idempotencyKey, spec::idempotencyKey);
            add(settings, timeout, spec::timeout);
            add(settings, schedule, spec::schedule);
            return settings;
        }

        private static Runnable keyed(JobSpec.Builder spec, String key, KeyRule rule) {
            return () -> spec.key(key, rule);
        }

        private static <T> void add(List<Runnable> settings, @Nullable T value, Consumer<T> setter) {
            if (value != null) {
                settings.add(() -> setter.accept(value));
            }
        }

        private static Set<String> split(String tags) {
            if (tags.length() < 2) {
                throw new IllegalArgumentException("tags '" + tags + "' are not enclosed in commas");
            }
            return new LinkedHashSet<>(
                    Arrays.asList(tags.substring(1, tags.length() - 1).split(",")));
        }
    }

    /** Returns a spec with only these values set. */
    JobSpec plain(Session session, String queue, String type, String payload, @Nullable Long policy, int priority)
            throws SQLException {
        return JobSpec.builder(type, payload)
                .queue(queue)
                .priority(priority)
                .policy(policies.find(session, policy))
                .build();
    }

    /** Adds a comma at both ends, so that a search finds whole tags. */
    private static @Nullable String tags(Set<String> tags) {
        return tags.isEmpty() ? null : "," + String.join(",", tags) + ",";
    }
}
