// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.job.Job;
import io.reprise.job.RepriseException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The checks before a run starts, for local and for remote runs. Thread-safe. */
public final class StartCheck {

    private final StoreClock clock;
    private final Driver driver;
    private final LocalControl control;

    StartCheck(EngineParts parts) {
        this.clock = parts.clock();
        this.driver = parts.driver();
        this.control = parts.control();
    }

    /**
     * Returns how the run ends without a start, or null if it may start.
     *
     * @param start when this worker began with the run, in nanoseconds of the driver
     */
    @Nullable
    RunResult refusal(Run run, long start) {
        if (run.damage != null) {
            DamagedJobException damaged = new DamagedJobException(run.damage);
            return ended(run, RunResult.Kind.UNREADABLE, start, RunResult.Thrown.of(damaged));
        }
        if (isOver(run.job, clock.now())) {
            // The store's clock may not have reached the deadline. Given back, the job is claimed again
            // or expired by the store.
            return ended(run, RunResult.Kind.NOT_STARTED, start, null);
        }
        return control.holds(run) ? ended(run, RunResult.Kind.HELD, start, null) : null;
    }

    /** Whether a run that starts at this time starts at the job's deadline or later. */
    public static boolean isOver(Job job, Instant start) {
        Instant deadline = job.times().deadline();
        return deadline != null && !start.isBefore(deadline);
    }

    private RunResult ended(Run run, RunResult.Kind kind, long start, RunResult.@Nullable Thrown error) {
        return new RunResult(run, kind, Duration.ofNanos(Math.max(0, driver.nanos() - start)), error, null);
    }

    /** Thrown for a stored job that cannot be read. */
    static final class DamagedJobException extends RepriseException {
        private static final long serialVersionUID = 1L;

        DamagedJobException(String damage) {
            super("The stored job is damaged, or of a newer version: " + damage);
        }
    }
}
