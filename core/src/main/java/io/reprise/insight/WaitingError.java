// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.JobId;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that failed with the same error and wait for another attempt.
 *
 * @param fingerprint of the error
 * @param errorType class name of the error of one of the jobs
 * @param message message of the error of one of the jobs
 * @param jobs number of jobs
 * @param latest the newest of the jobs
 * @since 0.1.0
 */
public record WaitingError(
        String fingerprint, String errorType, @Nullable String message, long jobs, JobId latest) {}
