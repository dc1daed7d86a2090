// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.FailureDetails;
import io.reprise.insight.ResourceStatus;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A provider that takes only so many calls at once, and a fleet that finds out how many. */
class InFlightTest {

    private static final class TooMany extends IOException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        @Override
        public Integer httpStatus() {
            return 429;
        }
    }

    /** Answers 429 to every call above its limit. */
    private static final class Crowded implements SimulatedDownstream {

        private final World world;
        private final int most;
        private double took;
        private int running;
        private long served;
        private long refused;

        Crowded(World world, int most, double took) {
            this.world = world;
            this.most = most;
            this.took = took;
        }

        @Override
        public void call(Consumer<@Nullable Exception> answer) {
            if (running >= most) {
                refused++;
                world.after(0.01, () -> answer.accept(new TooMany()));
                return;
            }
            running++;
            served++;
            world.after(took, () -> {
                running--;
                answer.accept(null);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {5, 6})
    void it_is_found_and_followed_when_calls_take_longer(long seed) {
        World world = new World(seed);
        Crowded provider = new Crowded(world, 20, 1);
        SimulatedFleet fleet = new SimulatedFleet(world, Candidate.REPRISE)
                .with(4, 100, new SimulatedHandler(provider, new SimulatedHandler.Observer() {}));
        world.arrivals(40, 0, 900, fleet::enqueue);
        world.runUntil(120);
        check(provider, fleet, 300, 0.8 * 20 * 300);
        provider.took = 4;
        world.runUntil(480);
        check(provider, fleet, 420, 0.6 * 5 * 420);
        assertThat(fleet.dead()).isZero();
    }

    /** Lets time pass: hardly anything is refused, and most of what the provider could do is done. */
    private static void check(Crowded provider, SimulatedFleet fleet, double seconds, double least) {
        provider.served = 0;
        provider.refused = 0;
        provider.world.runUntil(provider.world.now() + seconds);
        ResourceStatus status = fleet.workers().get(0).reprise().resources().get(0);
        assertThat(status.ramp().inFlight()).as("in flight at most").isBetween(10.0, 30.0);
        assertThat(status.ramp().rate()).as("calls per second").isLessThanOrEqualTo(30 / provider.took);
        assertThat((double) provider.refused / (provider.served + provider.refused))
                .as("refused")
                .isLessThan(0.08);
        assertThat((double) provider.served).isGreaterThan(least);
    }
}
