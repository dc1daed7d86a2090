// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import io.reprise.retry.FailureClass;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Retries are paid by many threads while the Warden carries the sums to the store, and brings them back if it cannot. */
class ControlRaceTest {

    private static final Job JOB = Samples.job(1);
    private static final ControlRules RULES = new ControlRules(ControlSettings.DEFAULT, List.of());

    @Test
    void no_token_is_lost_or_spent_twice() {
        Race.inManyOrders(() -> {
            Control control = new Control(RULES, new StoreClock(new Still(), Instant.EPOCH), () -> {}, () -> {});
            Race.together(
                    () -> Race.require(control.charge(JOB, FailureClass.THROTTLED) == null, "refused"),
                    () -> control.giveBack(ControlKey.BUDGET, control.takeTokens(ControlKey.BUDGET)),
                    () -> Race.require(control.charge(JOB, FailureClass.THROTTLED) == null, "refused"));
            double spent = control.takeTokens(ControlKey.BUDGET);
            Race.require(spent == -10, "spent " + spent);
        });
    }
}
