// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.store.Requeue;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One operation that a person did.
 *
 * @param at time of the operation, by the store's clock
 * @param action name of the operation: the action of a {@link Requeue} (retry, replay), discard, cancel, pause, resume,
 *     limit, pause-schedule, resume-schedule, trigger-schedule, force-open, force-close, automatic, or the action that
 *     a change of a document names
 * @param job the job concerned; null if it is not about a job
 * @param subject the queue, schedule, control state or document concerned; null if it is about a job
 * @param note who did it and why
 * @param detail what exactly changed, for instance {@code "as job 17"}; null if the action says it
 * @since 0.1.0
 */
public record AuditEntry(
        Instant at,
        String action,
        @Nullable JobId job,
        @Nullable String subject,
        AuditNote note,
        @Nullable String detail) {}
