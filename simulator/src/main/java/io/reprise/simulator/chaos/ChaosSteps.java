// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.JobContext;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import java.time.Duration;

/** The steps of one run, one after another: work, a sleep, work, an event, and work that runs at most once. */
final class ChaosSteps {

    /** The event that a client tells. */
    static final String EVENT = "go";

    private static final Duration NAP = Duration.ofMillis(1_500);
    private static final Duration PATIENCE = Duration.ofSeconds(12);

    /** Notes that work begins, and may throw. */
    interface Effect {
        void of(String step, boolean once);
    }

    private final JobContext job;
    private final Effect effect;
    private final boolean swallows;
    private int done;

    /**
     * Begins at the first step.
     *
     * @param swallows whether the handler catches what it should let pass
     */
    ChaosSteps(JobContext job, Effect effect, boolean swallows) {
        this.job = job;
        this.effect = effect;
        this.swallows = swallows;
    }

    /** Does the next step. Returns whether there is another. */
    boolean next() {
        try {
            switch (done) {
                case 0 -> job.step("first", () -> effect.of("first", false));
                case 1 -> job.sleep("nap", NAP);
                case 2 -> job.step("second", () -> effect.of("second", false));
                case 3 -> await();
                default ->
                    job.step(Step.of("last", String.class).atMostOnce(), () -> {
                        effect.of("last", true);
                        return "done";
                    });
            }
        } catch (Crashed e) {
            throw e;
        } catch (Error e) {
            if (!swallows) {
                throw e;
            }
            return false;
        }
        return done++ < 4;
    }

    private void await() {
        try {
            job.await(EVENT, String.class, PATIENCE);
        } catch (StepFailedException late) {
            job.step("undo", () -> effect.of("undo", false));
        }
    }
}
