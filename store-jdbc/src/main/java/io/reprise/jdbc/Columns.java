// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

/** The column lists that several statements share, each in the one order in which it is bound and read. */
final class Columns {

    /** What {@link Specs} binds and reads. */
    private static final String SPEC = "queue, type, priority, payload, policy, delay_us, asked_at, resource, tags,"
            + " unique_key, key_rule, idempotency_key, timeout_us, schedule";

    private static final String SPEC_VALUES = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";

    /** What {@link Jobs} reads, of a view that shows jobs. */
    private static final String SHOW = "id, " + SPEC + ", state, wait_reason, fail_reason, error_type, error_message,"
            + " fingerprint, progress, progress_message, result, worker, holder, cancel_requested, attempts, losses,"
            + " interruptions, snoozes, granted, created_at, first_due_at, due_at, deadline, started_at, finished_at,"
            + " last_delay_us";

    /** What a live and a finished job have in common beside the spec. */
    private static final String BOTH = "id, first_due_at, created_at, deadline, progress, progress_message, granted";

    private Columns() {}

    static String in(String template) {
        return template.replace("{spec}", SPEC)
                .replace("{spec_values}", SPEC_VALUES)
                .replace("{show}", SHOW)
                .replace("{both}", BOTH);
    }
}
