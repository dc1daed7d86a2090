// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Ledger;
import io.reprise.benchmarks.system.RepriseSystem;
import io.reprise.control.ControlSettings;
import io.reprise.jackson.JacksonCodec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** R2 and R4: every job fails once with an error that no rule knows, and every retry succeeds. */
public final class Storm implements RepriseWorkload {

    private static final JobType<String> CALL = JobType.of("call", String.class);
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int CHUNK = 50_000;

    /**
     * The result of one run.
     *
     * @param rate jobs done per second
     * @param left jobs that were not done when the time was up
     */
    private record Outcome(double rate, int left) {}

    private final String name;
    private final int jobs;
    private final @Nullable String resource;

    private Storm(String name, int jobs, @Nullable String resource) {
        this.name = name;
        this.jobs = jobs;
        this.resource = resource;
    }

    public static Storm withoutResource() {
        return new Storm("R2", 200_000, null);
    }

    public static Storm ofOneResource() {
        return new Storm("R4", 50_000, "dependency");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String title() {
        return jobs + " jobs that fail once: rate with retry control ÷ rate without";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(1);
        Outcome off = run(trial, ControlSettings.off());
        Outcome on = run(trial, ControlSettings.DEFAULT);
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("ofOff", on.rate() / off.rate());
        values.put(Figure.RATE, on.rate());
        values.put("off", off.rate());
        values.put("left", (double) on.left());
        return List.of(new Figure(name, values));
    }

    private Outcome run(Trial trial, ControlSettings control) throws Exception {
        int count = trial.sizes().jobs(jobs);
        Target target = trial.install();
        Ledger ledger = new Ledger(count, 1);
        try (Reprise client = RepriseSystem.client(target)) {
            for (int from = 0; from < count; from += CHUNK) {
                client.enqueueAll(requests(from, Math.min(count, from + CHUNK)));
            }
        }
        target.tidy();
        Reprise worker = Reprise.builder()
                .store(RepriseSystem.store(target))
                .codec(new JacksonCodec())
                .control(control)
                .handle(CALL, (payload, job) -> ledger.run(payload))
                .start();
        try {
            return outcome(ledger, count);
        } finally {
            worker.close();
        }
    }

    private static Outcome outcome(Ledger ledger, int count) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!ledger.isDone() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        int left = ledger.open();
        double rate = (count - left) * 1e9 / (System.nanoTime() - ledger.firstRunNanos());
        if (left == 0) {
            ledger.check();
        }
        return new Outcome(rate, left);
    }

    private List<JobRequest<String>> requests(int from, int to) {
        return Payloads.range(from, to).stream().map(this::request).toList();
    }

    private JobRequest<String> request(String payload) {
        JobRequest<String> request = CALL.job(payload);
        return resource == null ? request : request.resource(resource);
    }
}
