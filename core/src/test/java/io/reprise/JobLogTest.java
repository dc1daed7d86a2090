// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.LogLine;
import io.reprise.job.JobId;
import io.reprise.job.Transaction;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLog;
import io.reprise.remote.RemoteReport;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Log lines of a job, in virtual time. */
class JobLogTest {

    private static final JobType<String> TALK = JobType.of("talk", String.class).retry(EXACT);
    private static final JobType<String> FAR = JobType.of("far", String.class).retry(EXACT);
    private static final Transaction AT_ONCE = new Transaction() {};

    private final ManualClock clock = new ManualClock();
    private final InlineWorker worker = InlineWorker.start(
            Reprise.builder()
                    .store(new InMemoryJobStore(clock))
                    .codec(new TextCodec())
                    .remoteWorkers()
                    .handle(TALK, JobLogTest::talk),
            clock);
    private final Reprise reprise = worker.reprise();

    @AfterEach
    void close() {
        worker.close();
    }

    private static void talk(String how, JobContext job) {
        switch (how) {
            case "much" -> {
                for (int i = 0; i < 1_200; i++) {
                    job.log("line " + i);
                }
            }
            case "long" -> {
                for (int i = 0; i < 30; i++) {
                    job.log("x".repeat(5_000));
                }
            }
            case "steps" -> {
                job.log("before");
                job.sleep("nap", Duration.ofMinutes(1));
                job.log("after");
            }
            case "complete" -> {
                job.log("done by the caller");
                job.complete(AT_ONCE);
            }
            default -> {
                job.log("attempt " + job.attempt());
                job.log("one\r\ntwo\0three");
                if (job.attempt() == 1) {
                    throw new IllegalStateException("again");
                }
            }
        }
    }

    private List<String> lines(String how) {
        JobId id = reprise.enqueue(TALK.job(how));
        worker.runDue();
        worker.advance(Duration.ofMinutes(10));
        return reprise.log(id).stream().map(LogLine::text).toList();
    }

    @Test
    void lines_of_each_attempt_are_kept_each_as_one_line() {
        assertThat(lines("twice")).containsExactly("attempt 1", "one  two three", "attempt 2", "one  two three");
    }

    @Test
    void lines_before_and_after_a_sleep_are_kept() {
        assertThat(lines("steps")).containsExactly("before", "before", "after");
    }

    @Test
    void lines_of_a_job_that_its_handler_completes_are_kept() {
        assertThat(lines("complete")).containsExactly("done by the caller");
    }

    @Test
    void a_run_that_writes_too_many_lines_says_so_in_the_last() {
        List<String> lines = lines("much");
        assertThat(lines).hasSize(1_001).startsWith("line 0", "line 1");
        assertThat(lines.get(999)).isEqualTo("line 999");
        assertThat(lines.get(1_000)).contains("not kept");
    }

    @Test
    void a_run_that_writes_too_much_text_says_so_in_the_last() {
        List<String> lines = lines("long");
        assertThat(lines.get(0)).hasSize(LogLine.MAX_LENGTH).endsWith("…");
        assertThat(lines.stream().mapToInt(String::length).sum()).isLessThan(LogLine.MAX_CHARS + 100);
        assertThat(lines.get(lines.size() - 1)).contains("not kept");
    }

    @Test
    void a_remote_run_sends_lines_with_heartbeats_and_with_its_report() {
        RemoteWorkers remote = reprise.remoteWorkers();
        JobId id = reprise.enqueue(FAR.job("p").queue("far"));
        RemoteLease.Key key = lease(remote);
        RemoteLog first = new RemoteLog(0, List.of("one", "two"));
        remote.heartbeat(key, Duration.ofMinutes(1), null, first);
        remote.heartbeat(key, Duration.ofMinutes(1), null, first);
        assertThat(reprise.log(id)).extracting(LogLine::text).containsExactly("one", "two");
        remote.report(List.of(RemoteReport.completed(key, null).logging(new RemoteLog(2, List.of("three")))));
        assertThat(reprise.log(id)).extracting(LogLine::text).containsExactly("one", "two", "three");
    }

    @Test
    void a_remote_run_has_the_same_bounds_over_all_its_heartbeats() {
        RemoteWorkers remote = reprise.remoteWorkers();
        JobId id = reprise.enqueue(FAR.job("p").queue("far"));
        RemoteLease.Key key = lease(remote);
        List<String> some = Collections.nCopies(10, "y".repeat(4_000));
        remote.heartbeat(key, Duration.ofMinutes(1), null, new RemoteLog(0, some));
        remote.heartbeat(key, Duration.ofMinutes(1), null, new RemoteLog(10, some));
        remote.heartbeat(key, Duration.ofMinutes(1), null, new RemoteLog(5_000, some));
        List<LogLine> lines = reprise.log(id);
        assertThat(lines.stream().mapToInt(line -> line.text().length()).sum()).isLessThan(LogLine.MAX_CHARS + 100);
        assertThat(lines.get(lines.size() - 1).text()).contains("not kept");
    }

    private static RemoteLease.Key lease(RemoteWorkers remote) {
        return remote.lease(new RemoteLease.LeaseRequest(
                        "remote", List.of("far"), Set.of(FAR.name()), 1, Duration.ofMinutes(1)))
                .get(0)
                .key();
    }
}
