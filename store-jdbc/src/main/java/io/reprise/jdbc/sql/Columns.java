// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.jdbc.jobs.JobRows;
import io.reprise.jdbc.jobs.SpecColumns;

/** The column lists that several statements share, each in the order in which it is bound and read. */
public final class Columns {

    /** The columns that {@link SpecColumns} binds and reads. */
    private static final String SPEC = "queue, type, priority, payload, policy, delay_us, asked_at, resource, tags,"
            + " unique_key, key_rule, idempotency_key, timeout_us, schedule";

    private static final String SPEC_VALUES = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";

    /** Placeholders with casts, for places where the database cannot infer the type of a value. */
    private static final String SPEC_CASTS = "cast(? as text), cast(? as text), cast(? as int), cast(? as text),"
            + " cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as text), cast(? as text),"
            + " cast(? as text), cast(? as text), cast(? as text), cast(? as bigint), cast(? as text)";

    /** The columns that {@link JobRows} reads from a view of jobs. */
    private static final String SHOW = "id, " + SPEC + ", state, wait_reason, fail_reason, error_type, error_message,"
            + " fingerprint, progress, progress_message, result, worker, holder, cancel_requested, attempts, losses,"
            + " interruptions, snoozes, granted, created_at, first_due_at, due_at, deadline, started_at, finished_at,"
            + " last_delay_us";

    /** The columns of {@link #SHOW} without payload and result. */
    private static final String BRIEF =
            SHOW.replace(" payload,", " 'null' as payload,").replace(" result,", " null as result,");

    /** The columns that {@link JobRows#claimed} reads of a job {@code j}. */
    public static final String CLAIMED =
            "j.lane, j.due_at, j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us,"
                    + " j.asked_at, j.resource, j.tags, j.unique_key, j.key_rule, j.idempotency_key, j.timeout_us, j.schedule,"
                    + " j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message, j.cancel_requested,"
                    + " j.attempts, j.losses, j.interruptions, j.snoozes, j.granted, j.created_at, j.first_due_at, j.deadline,"
                    + " j.last_delay_us, j.wait_reason";

    /** The columns of {@link #SHOW} for a job {@code j} under a lease {@code l}, followed by the wait reason. */
    public static final String CLAIMED_SHOWN = "j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us,"
            + " j.asked_at, j.resource, j.tags, j.unique_key, j.key_rule, j.idempotency_key, j.timeout_us, j.schedule,"
            + " 'RUNNING', null, null, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,"
            + " null, l.worker, l.id, j.cancel_requested, j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,"
            + " j.created_at, j.first_due_at, null, j.deadline, l.claimed_at, null, j.last_delay_us, j.wait_reason";

    /** The columns that live and finished jobs share beside the spec. */
    private static final String BOTH = "id, first_due_at, created_at, deadline, progress, progress_message, granted";

    private Columns() {}

    /**
     * Replaces the words that PostgreSQL and SQLite share: {@code {on_conflict (key)}} and {@code {new.column}} for
     * upserts. It removes {@code {by index}}, because their planners choose the index themselves.
     */
    public static String inCommonWords(String template) {
        return in(template)
                .replaceAll("\\{by \\w+}", "")
                .replaceAll("\\{delete (\\w+) by \\w+}", "delete from $1")
                .replaceAll("\\{on_conflict (\\([^)]*\\))}", "on conflict $1 do update set")
                .replaceAll("\\{new\\.(\\w+)}", "excluded.$1");
    }

    public static String in(String template) {
        return template.replace("{spec}", SPEC)
                .replace("{spec_values}", SPEC_VALUES)
                .replace("{spec_casts}", SPEC_CASTS)
                .replace("{show}", SHOW)
                .replace("{brief}", BRIEF)
                .replace("{both}", BOTH)
                .replace("{d_spec}", "d." + SPEC.replace(", ", ", d."))
                .replace("{d_both}", "d." + BOTH.replace(", ", ", d."));
    }
}
