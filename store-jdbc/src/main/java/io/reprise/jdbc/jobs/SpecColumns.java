// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static io.reprise.jdbc.sql.ColumnArrays.Kind.NUMBER;
import static io.reprise.jdbc.sql.ColumnArrays.Kind.TEXT;

import io.reprise.batch.Membership;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.ColumnArrays;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Converts a spec to columns and back. {@link #COLUMNS} has a line for each column. */
public final class SpecColumns {

    /** Gives the value of a column. */
    private interface Value {
        @Nullable
        Object of(SpecColumns specs, JobSpec spec);
    }

    /** Reads the next column of a row into a draft. */
    private interface Reader {
        void read(SqlRow row, Draft draft) throws SQLException;
    }

    /**
     * A column.
     *
     * @param use whether most jobs have it empty
     */
    private record Column(String name, ColumnArrays.Kind kind, Use use, Value value, Reader reader) {}

    private enum Use {
        /** Every job has a value. */
        ALWAYS,
        /** A key that only one live job may have, or its rule. Null for most jobs. */
        KEY,
        /** Null for most jobs. */
        SELDOM
    }

    /** The columns in the order in which {@code {spec}} names them: how each is written, and how it is read. */
    private static final List<Column> COLUMNS = List.of(
            new Column(
                    "queue",
                    TEXT,
                    Use.ALWAYS,
                    (specs, spec) -> spec.queue(),
                    (row, draft) -> draft.add(row.text(), JobSpec.Builder::queue)),
            new Column("type", TEXT, Use.ALWAYS, (specs, spec) -> spec.type(), (row, draft) -> draft.type = row.text()),
            new Column(
                    "priority",
                    NUMBER,
                    Use.ALWAYS,
                    (specs, spec) -> spec.priority(),
                    (row, draft) -> draft.add(row.integer(), JobSpec.Builder::priority)),
            new Column(
                    "payload",
                    TEXT,
                    Use.ALWAYS,
                    (specs, spec) -> spec.payload(),
                    (row, draft) -> draft.payload = row.text()),
            new Column(
                    "policy",
                    NUMBER,
                    Use.ALWAYS,
                    (specs, spec) -> specs.policies.id(spec.policy()),
                    (row, draft) -> draft.add(draft.policy(row.numberOrNull()), JobSpec.Builder::policy)),
            new Column(
                    "delay_us",
                    NUMBER,
                    Use.SELDOM,
                    (specs, spec) -> delay(spec),
                    (row, draft) -> draft.isDelayed = draft.add(row.durationOrNull(), JobSpec.Builder::delay)),
            new Column(
                    "asked_at",
                    NUMBER,
                    Use.SELDOM,
                    (specs, spec) -> asked(spec),
                    (row, draft) -> draft.addUnlessDelayed(row.instantOrNull())),
            new Column(
                    "resource",
                    TEXT,
                    Use.SELDOM,
                    (specs, spec) -> spec.resource(),
                    (row, draft) -> draft.add(row.textOrNull(), JobSpec.Builder::resource)),
            new Column(
                    "job_group",
                    TEXT,
                    Use.SELDOM,
                    (specs, spec) -> spec.group(),
                    (row, draft) -> draft.add(row.textOrNull(), JobSpec.Builder::group)),
            new Column(
                    "tags",
                    TEXT,
                    Use.SELDOM,
                    (specs, spec) -> tags(spec.tags()),
                    (row, draft) -> draft.add(row.textOrNull(), (spec, text) -> spec.tags(known(text)))),
            new Column(
                    "unique_key",
                    TEXT,
                    Use.KEY,
                    (specs, spec) -> spec.key(),
                    (row, draft) -> draft.key = Followers.shown(row.textOrNull())),
            new Column(
                    "key_rule",
                    TEXT,
                    Use.KEY,
                    (specs, spec) -> spec.key() == null ? null : spec.keyRule(),
                    (row, draft) -> draft.addKey(row.constantOrNull(KeyRule.class, KeyRule.KEEP))),
            new Column(
                    "idempotency_key",
                    TEXT,
                    Use.KEY,
                    (specs, spec) -> spec.idempotencyKey(),
                    (row, draft) -> draft.add(row.textOrNull(), JobSpec.Builder::idempotencyKey)),
            new Column(
                    "timeout_us",
                    NUMBER,
                    Use.SELDOM,
                    (specs, spec) -> SqlTime.ofNullable(spec.timeout()),
                    (row, draft) -> draft.add(row.durationOrNull(), JobSpec.Builder::timeout)),
            new Column(
                    "schedule",
                    TEXT,
                    Use.SELDOM,
                    (specs, spec) -> spec.schedule(),
                    (row, draft) -> draft.add(row.textOrNull(), JobSpec.Builder::schedule)),
            new Column(
                    "chain",
                    TEXT,
                    Use.SELDOM,
                    (specs, spec) -> Batches.column(spec.batch(), spec.chain()),
                    (row, draft) -> draft.addChain(row.textOrNull())));

    private static final Column[] ALL = COLUMNS.toArray(Column[]::new);

    private static final Column[] SELDOM =
            COLUMNS.stream().filter(column -> column.use == Use.SELDOM).toArray(Column[]::new);

    static final List<String> NAMES = COLUMNS.stream().map(Column::name).toList();

    /** The types of the columns. */
    public static final List<ColumnArrays.Kind> KINDS =
            COLUMNS.stream().map(Column::kind).toList();

    /** The columns that are null for most jobs. */
    static final List<String> OPTIONAL = COLUMNS.stream()
            .filter(column -> column.use != Use.ALWAYS)
            .map(Column::name)
            .toList();

    /** Index of the policy among the values. */
    public static final int POLICY = NAMES.indexOf("policy");

    /** Stands for a stored type that is no valid name. */
    private static final String UNREADABLE = "unreadable";

    /** Tags as they are stored, and as a spec has them. */
    private record Tags(String text, Set<String> tags) {}

    /** The tags that were read last. Jobs of one call often have the same, such as that of their trace. */
    private static volatile @Nullable Tags latest;

    private final PolicyTable policies;

    public SpecColumns(PolicyTable policies) {
        this.policies = policies;
    }

    public @Nullable Object[] values(JobSpec spec) {
        @Nullable Object[] values = new @Nullable Object[ALL.length];
        for (int i = 0; i < ALL.length; i++) {
            values[i] = ALL[i].value.of(this, spec);
        }
        return values;
    }

    /** Returns the values by the names of the columns. */
    public Params params(JobSpec spec) {
        Params params = Params.of(ALL[0].name, ALL[0].value.of(this, spec));
        for (int i = 1; i < ALL.length; i++) {
            params.and(ALL[i].name, ALL[i].value.of(this, spec));
        }
        return params;
    }

    /** Whether the job has nothing that most jobs do not have. It may have keys. */
    public boolean isPlain(JobSpec spec) {
        for (Column column : SELDOM) {
            if (column.value.of(this, spec) != null) {
                return false;
            }
        }
        return true;
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
        Draft draft = new Draft(policies, session);
        for (Column column : ALL) {
            column.reader.read(row, draft);
        }
        try {
            JobSpec.Builder spec = JobSpec.builder(draft.type, draft.payload);
            draft.settings.forEach(setting -> setting.accept(spec));
            return new Read(spec.build(), null);
        } catch (RuntimeException e) {
            return new Read(mended(draft), Objects.requireNonNullElse(e.getMessage(), e.toString()));
        }
    }

    private static JobSpec mended(Draft draft) {
        JobSpec.Builder spec = JobSpec.builder(
                isGood(() -> JobSpec.requireName("type", draft.type)) ? draft.type : UNREADABLE,
                isGood(() -> JobSpec.builder(UNREADABLE, draft.payload)) ? draft.payload : "null");
        draft.settings.forEach(setting -> isGood(() -> setting.accept(spec)));
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

    /** A spec that is being read. Each setting may throw for a damaged value. */
    private static final class Draft {
        private final PolicyTable policies;
        private final Session session;
        private final List<Consumer<JobSpec.Builder>> settings = new ArrayList<>(8);
        private String type = "";
        private String payload = "";
        private boolean isDelayed;
        private @Nullable String key;

        Draft(PolicyTable policies, Session session) {
            this.policies = policies;
            this.session = session;
        }

        RetryPolicy policy(@Nullable Long id) throws SQLException {
            return policies.find(session, id);
        }

        /** Returns whether there is a value. */
        private <T> boolean add(@Nullable T value, BiConsumer<JobSpec.Builder, T> setter) {
            if (value != null) {
                settings.add(spec -> setter.accept(spec, value));
            }
            return value != null;
        }

        private void addUnlessDelayed(@Nullable Instant asked) {
            add(isDelayed ? null : asked, JobSpec.Builder::dueAt);
        }

        /** A damaged membership is left out like any other damaged value. */
        private void addChain(@Nullable String column) {
            add(Batches.chain(column), JobSpec.Builder::chain);
            add(column, (spec, text) -> {
                Membership member = Batches.member(text);
                spec.batch(member == null ? null : member.toText());
            });
        }

        private void addKey(@Nullable KeyRule rule) {
            String unique = key;
            if (unique != null) {
                add(rule, (spec, each) -> spec.key(unique, each));
            }
        }
    }

    private static Set<String> known(String text) {
        Tags known = latest;
        if (known == null || !known.text.equals(text)) {
            known = new Tags(text, split(text));
            latest = known;
        }
        return known.tags;
    }

    private static Set<String> split(String tags) {
        if (tags.length() < 2) {
            throw new IllegalArgumentException("tags '" + tags + "' are not enclosed in commas");
        }
        Set<String> each = new LinkedHashSet<>(
                Arrays.asList(tags.substring(1, tags.length() - 1).split(",")));
        return JobSpec.builder(UNREADABLE, "null").tags(each).build().tags();
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

    /** Adds a comma at both ends, so that a search finds whole tags. Returns null for none. */
    public static @Nullable String tags(@Nullable Set<String> tags) {
        return tags == null || tags.isEmpty() ? null : "," + String.join(",", tags) + ",";
    }
}
