// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.internal.Race;
import io.reprise.internal.Samples;
import io.reprise.store.Claim;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Test;

/** A run that is begun, given back, stopped and given up at once ends exactly once. */
class RunRaceTest {

    private static final Claim CLAIM = Samples.claim(1, 1);

    /** What three threads do to a run: Runner.perform, Runner.giveBack and Runner.abandon. */
    private interface Endable {
        boolean begin(Thread thread);

        boolean end();

        boolean abandonIfWaiting();
    }

    private static Endable real() {
        Run run = new Run(CLAIM.jobs().get(0), new HeldLease(CLAIM, 0, 1), false, null);
        return new Endable() {
            @Override
            public boolean begin(Thread thread) {
                return run.begin(thread, 0, 1);
            }

            @Override
            public boolean end() {
                return run.end();
            }

            @Override
            public boolean abandonIfWaiting() {
                return run.abandonIfWaiting();
            }
        };
    }

    /** As it would be if it looked first and acted then. */
    private static final class Careless implements Endable {
        private volatile int phase;

        @Override
        public boolean begin(Thread thread) {
            return advance(0, 1);
        }

        @Override
        public boolean end() {
            return advance(1, 2);
        }

        @Override
        public boolean abandonIfWaiting() {
            return advance(0, 2);
        }

        private boolean advance(int from, int to) {
            if (phase != from) {
                return false;
            }
            phase = to;
            return true;
        }
    }

    private static void endsOnce(Endable run) {
        AtomicInteger ends = new AtomicInteger();
        Thread handler = new Thread();
        Race.together(
                () -> {
                    if (run.begin(handler) && run.end()) {
                        ends.incrementAndGet();
                    }
                },
                () -> {
                    if (run.abandonIfWaiting()) {
                        ends.incrementAndGet();
                    }
                });
        Race.require(ends.get() == 1, "ended " + ends.get() + " times");
    }

    @Test
    void a_run_ends_once_whoever_ends_it() {
        Race.inManyOrders(() -> endsOnce(real()));
    }

    @Test
    void a_run_that_looks_before_it_acts_is_caught() {
        assertThatThrownBy(() -> Race.untilItFails(() -> endsOnce(new Careless())))
                .isInstanceOf(LincheckAssertionError.class);
    }
}
