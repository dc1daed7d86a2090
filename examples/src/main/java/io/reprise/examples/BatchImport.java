// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.Batch;
import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Jobs that end together: an import whose report follows its last part. */
public final class BatchImport {
    private static final JobType<String> PART = JobType.of("part", String.class);
    private static final JobType<String> REPORT = JobType.of("report", String.class);
    private static final JobType<String> CLEAN = JobType.of("clean", String.class);
    private static final List<String> effects = new ArrayList<>();
    private static boolean damaged = true;

    private BatchImport() {}

    private static void part(String part, JobContext job) {
        if (part.equals("rows 2") && damaged) {
            throw JobSignal.fail("row 1,007 is damaged");
        }
        if (part.equals("rows 1")) {
            job.addToBatch(List.of(PART.job("rows 1, the rest")));
        }
        effects.add("import " + part);
    }

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        RepriseBuilder builder = Reprise.builder()
                .store(new InMemoryJobStore(clock))
                .handle(PART, BatchImport::part)
                .handle(REPORT, (name, job) -> effects.add("report " + name))
                .handle(CLEAN, (name, job) -> effects.add("clean " + name));
        try (InlineWorker worker = InlineWorker.start(builder, clock)) {
            Reprise reprise = worker.reprise();
            // snippet:batch
            Batch batch = reprise.batch("import-7")
                    .onSuccess(REPORT.job("import-7"))
                    .onEnd(CLEAN.job("import-7"))
                    .add(PART.job("rows 1"), PART.job("rows 2"));
            batch.close();
            // end
            worker.advance(Duration.ofMinutes(1));
            Example.check(effects.contains("clean import-7"), "the end came, although one part is dead");
            Example.check(!effects.contains("report import-7"), "the success did not");
            Example.check(batch.state().total() == 3, "the first part added another");
            damaged = false;
            JobQuery dead = JobQuery.all().state(JobState.FAILED);
            JobId part = reprise.find(dead).items().get(0).id();
            reprise.as("ada", "row repaired").retry(part, ManualRetry.NOW.forced());
            worker.advance(Duration.ofMinutes(1));
            Example.check(effects.contains("report import-7"), "the retried part brought the success");
        }
    }
}
