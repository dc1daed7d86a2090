// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.failure.Failure;
import io.reprise.job.JobSignal;
import io.reprise.step.StepFailedException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended, before the {@code OutcomeDecider} looks at it. Handler threads and the {@code Runner} create it and hand it
 * to the {@code Committer}.
 *
 * @param error the exception of the handler, or the reason why the handler did not run; null after a success
 * @param result JSON, if the handler gave any
 */
public record RunResult(
        Run run,
        Kind kind,
        Duration ran,
        @Nullable Thrown error,
        @Nullable String result) {

    public enum Kind {
        /** The handler returned or threw. */
        HANDLED,
        /** The payload or the stored job could not be read. */
        UNREADABLE,
        /** This worker has no handler for the job's type. */
        UNHANDLED,
        /** The breaker of the job's resource holds the job back. */
        HELD,
        /** The run was given back before it started. */
        NOT_STARTED
    }

    /**
     * An exception as data. The thread that caught it reads it, because reading a stack trace takes longer than
     * anything the {@code Committer} does.
     */
    public record Thrown(
            Failure failure,
            @Nullable JobSignal signal,
            @Nullable StepFailedException step) {

        private static final int MAX_CAUSES = 16;

        Thrown(Failure failure, @Nullable JobSignal signal) {
            this(failure, signal, null);
        }

        public static Thrown of(Throwable thrown) {
            return new Thrown(
                    Failure.of(thrown), find(thrown, JobSignal.class), find(thrown, StepFailedException.class));
        }

        private static <T> @Nullable T find(Throwable thrown, Class<T> type) {
            try {
                Throwable link = thrown;
                for (int depth = 0; link != null && depth < MAX_CAUSES; depth++) {
                    if (type.isInstance(link)) {
                        return type.cast(link);
                    }
                    link = link.getCause();
                }
                return null;
            } catch (RuntimeException | LinkageError | StackOverflowError broken) {
                // A broken exception can throw while it is read. Then it is an ordinary failure without a signal.
                return null;
            }
        }
    }

    /** Whether the run counts as a try of the job: the handler ran, or the payload was unreadable. */
    public boolean wasTried() {
        return kind == Kind.HANDLED || kind == Kind.UNREADABLE;
    }

    static RunResult notStarted(Run run) {
        return new RunResult(run, Kind.NOT_STARTED, Duration.ZERO, null, null);
    }

    public RunResult succeeded() {
        return new RunResult(run, Kind.HANDLED, ran, null, result);
    }

    public RunResult failed(Throwable thrown) {
        return new RunResult(run, kind, ran, Thrown.of(thrown), null);
    }
}
