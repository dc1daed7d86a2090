// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.history.HistoryChecker;
import io.reprise.history.HistoryLog;
import io.reprise.history.JobHistory;
import io.reprise.history.RecordingStore;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/** Checks what must be true when all jobs have ended. */
final class FaultVerdict {

    private final List<Job> jobs = new ArrayList<>();

    /** Reads all jobs and adds them to the history. */
    FaultVerdict(Reprise client, HistoryLog log) {
        JobQuery query = JobQuery.all().limit(JobQuery.MAX_LIMIT);
        Page<Job> page;
        do {
            JobQuery next = query;
            page = Insist.on(() -> client.find(next));
            jobs.addAll(page.items());
            query = query.after(page.next());
        } while (page.next() != null);
        jobs.forEach(job -> RecordingStore.row(log, job, Insist.on(() -> client.attempts(job.id()))));
    }

    int jobs() {
        return jobs.size();
    }

    /** Checks the history. Returns its number of events. */
    int checkHistory(Supplier<JobHistory> written, Duration slack) {
        JobHistory history = written.get();
        assertThat(HistoryChecker.check(history, slack, true)).isEmpty();
        return history.events().size();
    }

    /** Checks that all acknowledged jobs are stored, and no job that was never requested. */
    void checkStored(Load load) {
        assertThat(jobs).hasSizeBetween(load.acknowledged(), load.acknowledged() + load.unknown());
        assertThat(jobs.stream()
                        .map(job -> job.spec().idempotencyKey())
                        .filter(Objects::nonNull)
                        // The type, a line break and the key that the client chose.
                        .map(key -> key.substring(key.indexOf('\n') + 1))
                        .sorted())
                .containsExactlyElementsOf(load.keys());
    }

    /** Checks that each job ended as its kind must, with its allowed attempts. */
    void checkEnds() {
        assertThat(jobs.stream()
                        .filter(job -> job.state() != Work.of(job).end()
                                || (job.state() == JobState.FAILED && job.attempts() != Work.MAX_ATTEMPTS))
                        .map(job -> job.id() + " " + Work.of(job) + " " + job.status() + " " + job.counts()))
                .isEmpty();
    }

    /** Checks that the effect in each completing transaction happened once. */
    void checkEffects(List<Long> effects) {
        assertThat(effects)
                .containsExactlyElementsOf(jobs.stream()
                        .filter(job -> Work.of(job) == Work.TRANSACTIONAL)
                        .map(job -> job.id().value())
                        .sorted()
                        .toList());
    }
}
