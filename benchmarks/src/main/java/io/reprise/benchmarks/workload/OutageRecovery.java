// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.report.Figure;
import io.reprise.failure.FailureDetails;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** R1 and R3: the speed of a worker after its resource had trouble, compared with its speed before. */
public final class OutageRecovery implements RepriseWorkload {

    /** New jobs per second, where some arrive while the backlog is drained. */
    private static final int ARRIVALS = 500;

    /** Jobs that take no time: so many that a backlog is left 10 s after the first success, at 70,000 per second. */
    private static final int NO_OPS = 1_300_000;

    /** The exception of a provider that is called too often. */
    private static final class TooManyRequests extends Exception implements FailureDetails {
        TooManyRequests() {
            super("429 Too Many Requests");
        }

        @Override
        public Integer httpStatus() {
            return 429;
        }
    }

    private final String name;
    private final String title;
    private final RecoveryRun.Plan plan;

    private OutageRecovery(String name, String title, RecoveryRun.Plan plan) {
        this.name = name;
        this.title = title;
        this.plan = plan;
    }

    /** R1 with calls of three lengths, each with a backlog alone and with new jobs on top of it. */
    public static List<Workload> outages() {
        return List.of(
                outage("R1-0ms", NO_OPS, 10, 0, 0),
                outage("R1-5ms", 60_000, 20, 5, 0),
                outage("R1-50ms", 40_000, 100, 50, 0),
                outage("R1-0ms-arrivals", NO_OPS, 10, 0, ARRIVALS),
                outage("R1-5ms-arrivals", 60_000, 20, 5, ARRIVALS),
                outage("R1-50ms-arrivals", 40_000, 100, 50, ARRIVALS));
    }

    private static OutageRecovery outage(String name, int jobs, int concurrency, int callMillis, int arrivals) {
        return new OutageRecovery(
                name,
                "outage of 10 s, then the rate 10 s after the first success ÷ the rate before, and the time until"
                        + " drained ÷ (backlog ÷ the rate before)",
                plan(jobs, concurrency, callMillis, () -> new ConnectException("refused"), 10, arrivals));
    }

    public static OutageRecovery throttled() {
        return new OutageRecovery(
                "R3",
                "every call throttled for 10 s, then the rate 20 s after the first success ÷ the rate before",
                plan(100_000, 20, 5, TooManyRequests::new, 20, 0));
    }

    private static RecoveryRun.Plan plan(
            int jobs, int concurrency, int callMillis, Supplier<Exception> trouble, int lookSeconds, int arrivals) {
        return new RecoveryRun.Plan(
                jobs, concurrency, Duration.ofMillis(callMillis), trouble, Duration.ofSeconds(lookSeconds), arrivals);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        return List.of(new Figure(name, new RecoveryRun(trial, plan).measure()));
    }
}
