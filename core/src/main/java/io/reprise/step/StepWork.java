// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

/**
 * Work of a step that has no result.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface StepWork {

    /**
     * Does the work.
     *
     * @throws Exception any failure; the policy of the step decides about it
     */
    void run() throws Exception;
}
