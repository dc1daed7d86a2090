// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.steps;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.LogLine;
import io.reprise.job.JobId;
import io.reprise.store.Claim;
import io.reprise.store.LogPart;
import io.reprise.store.Requeue;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A store keeps the log lines of a job until the job goes. */
public interface LogContract extends StoreFixture {

    /** The time of every line. */
    Instant AT = Instant.parse("2026-05-01T10:00:00.123456Z");

    @Test
    default void log_lines_are_kept_in_the_order_of_runs_and_parts() {
        JobId job = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        writeLog(job, claim.token(), 1, "third");
        writeLog(job, claim.token(), 0, "first", "second 'quoted' \"twice\" ünd 🙂");
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        Claim again = claimOne();
        writeLog(job, again.token(), 0, "fourth");
        assertThat(store().log(job))
                .containsExactly(
                        new LogLine(claim.token(), AT, "first"),
                        new LogLine(claim.token(), AT, "second 'quoted' \"twice\" ünd 🙂"),
                        new LogLine(claim.token(), AT, "third"),
                        new LogLine(again.token(), AT, "fourth"));
    }

    @Test
    default void the_log_is_read_from_a_run_on() {
        JobId job = add(TestJobs.spec("work"));
        Claim first = claimOne();
        writeLog(job, first.token(), 0, "one");
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        Claim second = claimOne();
        writeLog(job, second.token(), 0, "two");
        writeLog(job, second.token(), 1, "three");
        assertThat(store().log(job, 0)).isEqualTo(store().log(job));
        assertThat(store().log(job, first.token())).isEqualTo(store().log(job));
        assertThat(store().log(job, second.token())).extracting(LogLine::text).containsExactly("two", "three");
        assertThat(store().log(job, second.token() + 1)).isEmpty();
    }

    @Test
    default void a_part_of_the_log_that_is_written_again_replaces_itself() {
        JobId job = add(TestJobs.spec("work"));
        long token = claimOne().token();
        writeLog(job, token, 0, "first");
        writeLog(job, token, 0, "first", "second");
        assertThat(store().log(job)).extracting(LogLine::text).containsExactly("first", "second");
    }

    @Test
    default void log_lines_of_several_jobs_are_written_at_once_and_those_of_none_are_left_out() {
        JobId one = add(TestJobs.spec("work"));
        long first = claimOne().token();
        JobId other = add(TestJobs.spec("work"));
        long second = claimOne().token();
        JobId nobody = new JobId(999_999_999);
        store().writeLog(List.of(part(one, first, 0, "a"), part(nobody, 7, 0, "b"), part(other, second, 0, "c")));
        store().writeLog(List.of());
        assertThat(store().log(one)).extracting(LogLine::text).containsExactly("a");
        assertThat(store().log(other)).extracting(LogLine::text).containsExactly("c");
        assertThat(store().log(nobody)).isEmpty();
    }

    @Test
    default void log_lines_stay_when_their_job_ends_and_go_with_it() {
        JobId job = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        writeLog(job, claim.token(), 0, "before");
        settle(TestSettlements.fail(claim, only(claim)));
        writeLog(job, claim.token(), 1, "after");
        assertThat(store().log(job)).extracting(LogLine::text).containsExactly("before", "after");
        store().discard(job, NOTE);
        assertThat(store().log(job)).isEmpty();
    }

    @Test
    default void a_job_under_a_new_id_begins_a_log_of_its_own() {
        JobId job = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        writeLog(job, claim.token(), 0, "before");
        settle(TestSettlements.fail(claim, only(claim)));
        Requeue renewed = new Requeue("replay", Duration.ZERO, null, true, 0, new Requeue.Edit(true, null, null));
        JobId target =
                Objects.requireNonNull(store().requeue(job, renewed, NOTE).id());
        assertThat(store().log(job)).isEmpty();
        assertThat(store().log(target)).isEmpty();
    }

    @Test
    default void the_log_keeps_the_lines_of_the_latest_runs() {
        JobId job = add(TestJobs.spec("work"));
        List<String> texts = new ArrayList<>();
        for (int run = 0; run < 28; run++) {
            Claim claim = claimOne();
            texts.add("run " + run);
            writeLog(job, claim.token(), 0, "run " + run);
            settle(TestSettlements.snooze(claim, only(claim), Duration.ZERO));
        }
        assertThat(store().log(job))
                .extracting(LogLine::text)
                .containsExactlyElementsOf(texts.subList(texts.size() - 25, texts.size()));
    }

    private void writeLog(JobId job, long token, int number, String... lines) {
        store().writeLog(List.of(part(job, token, number, lines)));
    }

    private static LogPart part(JobId job, long token, int number, String... lines) {
        return new LogPart(
                job,
                token,
                number,
                Stream.of(lines).map(line -> new LogLine(token, AT, line)).toList());
    }
}
