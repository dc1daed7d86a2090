// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One operation done by hand.
 *
 * @param action what a revival calls itself (retry, replay), discard, cancel, pause, resume, limit, pause-schedule,
 *     resume-schedule, trigger-schedule, force-open, force-close, automatic, or what a change of a document calls itself
 * @param subject the queue, schedule or control state concerned, if it is not a job
 * @param detail what exactly changed, for instance {@code "as job 17"}
 */
public record AuditEntry(
        Instant at,
        String action,
        @Nullable JobId job,
        @Nullable String subject,
        Note note,
        @Nullable String detail) {}
