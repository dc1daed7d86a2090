// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * How often a job was claimed, by how each claim ended. Only {@code attempts} spend the policy's {@code maxAttempts}.
 *
 * @param attempts runs that ended in success or in a failure of the job itself
 * @param losses runs whose worker lost its lease, for instance because it died
 * @param interruptions runs cut short by an orderly shutdown
 * @param snoozes runs whose handler asked to be called later
 * @param granted attempts added to the policy's limit by manual retries
 */
public record JobCounts(int attempts, int losses, int interruptions, int snoozes, int granted) {

    public static final JobCounts NONE = new JobCounts(0, 0, 0, 0, 0);
}
