// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/** Why a job is FAILED for good. */
public enum FailReason {
    /** Every attempt the policy allows was spent. */
    EXHAUSTED,
    /** The failure was classified as one that no retry can cure. */
    PERMANENT,
    /** The next attempt would start after the job's deadline. */
    DEADLINE,
    /** The job took its worker down too many times while running alone. */
    QUARANTINED,
    /** The payload could not be decoded. */
    UNREADABLE,
    /** Retries are switched off for the whole installation. */
    DISABLED,
    /** Past attempts show that a retry of this error practically never succeeds. */
    HOPELESS
}
