// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import io.reprise.failure.FailureClass;
import io.reprise.internal.Race;
import io.reprise.internal.Samples;
import io.reprise.internal.engine.Still;
import io.reprise.internal.engine.StoreClock;
import io.reprise.job.Job;
import io.reprise.settings.FleetSettings;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Retries are paid by many threads while the ControlSync carries the sums to the store, and brings them back if it cannot. */
class LocalControlRaceTest {

    private static final Job JOB = Samples.job(1);
    private static final ControlConfig RULES =
            new ControlConfig(ControlSettings.DEFAULT, List.of(), LiveSettings.fixed(FleetSettings.NONE));

    @Test
    void no_token_is_lost_or_spent_twice() {
        Race.inManyOrders(() -> {
            LocalControl control =
                    new LocalControl(RULES, new StoreClock(new Still(), Instant.EPOCH), () -> {}, () -> {});
            Race.together(
                    () -> Race.require(control.charge(JOB, FailureClass.THROTTLED) == null, "refused"),
                    () -> control.giveBack(ControlKey.BUDGET, control.takeCredits(ControlKey.BUDGET)),
                    () -> Race.require(control.charge(JOB, FailureClass.THROTTLED) == null, "refused"));
            double spent = control.takeCredits(ControlKey.BUDGET);
            Race.require(spent == -10, "spent " + spent);
        });
    }
}
