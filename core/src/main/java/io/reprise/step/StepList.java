// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

import java.time.Instant;
import java.util.List;

/**
 * The steps of a job.
 *
 * @param at when they were read, by the store's clock
 * @param steps the steps in the order in which they were written
 * @since 0.1.0
 */
public record StepList(Instant at, List<StoredStep> steps) {

    /** Copies the list. */
    public StepList {
        steps = List.copyOf(steps);
    }

    /** Returns the steps as they were when they were read: a sleep that was over is DONE. */
    public List<StoredStep> now() {
        return steps.stream().map(step -> step.asOf(at)).toList();
    }
}
