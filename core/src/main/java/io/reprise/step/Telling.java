// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

/**
 * The answer to an event that was told to a job.
 *
 * @since 0.1.0
 */
public enum Telling {
    /** The event is stored. If the job waited for it, the job is due now. */
    TOLD,
    /** The job knows an event of this name, or waited for it too long. The first one stays. */
    ALREADY_TOLD,
    /** The name belongs to a step or a sleep of the job. */
    NOT_AN_EVENT,
    /** The job has as many steps, or as many bytes in them, as a job may have. */
    FULL,
    /** The job has ended. Nothing is stored. */
    ENDED,
    /** There is no such job. */
    MISSING
}
