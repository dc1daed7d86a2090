// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.List;

/** The outcome of one world. */
record RecoveryOutcome(RecoveryPlan plan, Course course, List<RecoveryVerdict> verdicts) {

    static RecoveryOutcome of(RecoveryPlan plan, RecoveryBug breakage) {
        Course course = plan.storm() == null
                ? new RecoveryWorld(plan, breakage).run()
                : new StormWorld(plan, breakage, true).run();
        return new RecoveryOutcome(plan, course, verdicts(plan, course));
    }

    private static List<RecoveryVerdict> verdicts(RecoveryPlan plan, Course course) {
        if (plan.storm() != null) {
            return List.of(new StormChecks(plan, plan.storm(), course).storm());
        }
        Windows windows = new Windows(plan, course);
        SpeedChecks speed = new SpeedChecks(plan, course, windows);
        ShareChecks share = new ShareChecks(plan, course, windows);
        return List.of(
                speed.liveness(),
                speed.timeTo90(),
                speed.flood(),
                new WasteChecks(plan, course, windows).waste(),
                share.fresh(),
                share.isolation());
    }

    List<RecoveryVerdict> broken() {
        return verdicts.stream().filter(RecoveryVerdict::isBroken).toList();
    }
}
