// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.jdbc.ColumnArrays.Kind.NUMBER;
import static io.reprise.jdbc.ColumnArrays.Kind.TEXT;

import io.reprise.JobSpec;
import io.reprise.KeyRule;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A spec as columns, in the order of {@code {spec}}. */
final class Specs {

    /** What the values are. */
    static final List<ColumnArrays.Kind> KINDS =
            List.of(TEXT, TEXT, NUMBER, TEXT, NUMBER, NUMBER, NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, TEXT);

    /** Place of the policy among the values. */
    static final int POLICY = 4;

    private final Policies policies;

    Specs(Policies policies) {
        this.policies = policies;
    }

    @Nullable
    Object[] values(JobSpec spec) {
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
            Micros.ofNullable(spec.timeout()),
            spec.schedule()
        };
    }

    static @Nullable Long delay(JobSpec spec) {
        return spec.delay().isZero() ? null : Micros.of(spec.delay());
    }

    static @Nullable Long asked(JobSpec spec) {
        return Micros.ofNullable(spec.dueAt());
    }

    /** How long after the first due time the policy lets runs start. */
    static @Nullable Long deadline(JobSpec spec) {
        return Micros.ofNullable(spec.policy().deadline().toOptional().orElse(null));
    }

    JobSpec read(Row row, Session session) throws SQLException {
        String queue = row.text();
        String type = row.text();
        int priority = row.integer();
        JobSpec.Builder spec = JobSpec.builder(type, row.text()).queue(queue).priority(priority);
        spec.policy(policies.find(session, row.numberOrNull()));
        Duration delay = row.durationOrNull();
        Instant asked = row.instantOrNull();
        if (delay != null) {
            spec.delay(delay);
        } else if (asked != null) {
            spec.dueAt(asked);
        }
        spec.resource(row.textOrNull());
        String tags = row.textOrNull();
        if (tags != null) {
            spec.tags(new LinkedHashSet<>(
                    Arrays.asList(tags.substring(1, tags.length() - 1).split(","))));
        }
        String key = row.textOrNull();
        KeyRule rule = row.constantOrNull(KeyRule.class, KeyRule.KEEP);
        if (key != null && rule != null) {
            spec.key(key, rule);
        }
        return spec.idempotencyKey(row.textOrNull())
                .timeout(row.durationOrNull())
                .schedule(row.textOrNull())
                .build();
    }

    /** With a comma at both ends, so that a tag is found as a whole. */
    private static @Nullable String tags(Set<String> tags) {
        return tags.isEmpty() ? null : "," + String.join(",", tags) + ",";
    }
}
