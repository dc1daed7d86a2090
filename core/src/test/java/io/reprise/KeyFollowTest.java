// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.RefusedException;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One more job after the running one, in virtual time. */
class KeyFollowTest {

    private static final JobType<String> SYNC = JobType.of("sync", String.class).retry(EXACT);
    private static final JobType<String> SLEEPER =
            JobType.of("sleeper", String.class).retry(RetryPolicy.exponential().noDeadline());

    private final List<String> ran = new ArrayList<>();
    private final List<JobId> followers = new ArrayList<>();
    private final ManualClock clock = new ManualClock();
    private final InlineWorker worker = InlineWorker.start(
            Reprise.builder()
                    .store(new InMemoryJobStore(clock))
                    .codec(new TextCodec())
                    .handle(SYNC, this::sync)
                    .handle(SLEEPER, (name, job) -> {
                        job.sleep("night", Duration.ofHours(8));
                        ran.add(name);
                    }),
            clock);
    private final Reprise reprise = worker.reprise();

    @AfterEach
    void close() {
        worker.close();
    }

    private void sync(String name, JobContext job) {
        ran.add(name);
        if (name.equals("first")) {
            followers.add(job.enqueue(SYNC.job("second").key("customer", KeyRule.FOLLOW)));
            followers.add(job.enqueue(SYNC.job("third").key("customer", KeyRule.FOLLOW)));
        }
    }

    @Test
    void a_change_during_the_run_leads_to_one_more_run_with_the_last_payload() {
        JobId first = reprise.enqueue(SYNC.job("first").key("customer", KeyRule.FOLLOW));
        worker.runDue();
        worker.advance(Duration.ofSeconds(3));
        assertThat(ran).containsExactly("first", "third");
        assertThat(followers).hasSize(2).doesNotContain(first);
        assertThat(followers.get(0)).isEqualTo(followers.get(1));
        assertThat(reprise.find(followers.get(0)).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void a_function_that_sleeps_has_begun_and_keeps_its_steps() {
        JobId first = reprise.enqueue(SLEEPER.job("first").key("customer", KeyRule.FOLLOW));
        worker.runDue();
        JobId second = reprise.enqueue(SLEEPER.job("second").key("customer", KeyRule.FOLLOW));
        assertThat(second).isNotEqualTo(first);
        assertThat(reprise.steps(first)).hasSize(1);
        assertThat(reprise.explain(second).sentence()).contains("the job that holds its key");
        assertThatThrownBy(() -> reprise.as("ada", null)
                        .change(second, JobChange.NONE.at(clock.instant().plusSeconds(9))))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("waits for the end of the job that holds its key");
        worker.advance(Duration.ofHours(9));
        assertThat(ran).containsExactly("first");
        worker.advance(Duration.ofHours(9));
        assertThat(ran).containsExactly("first", "second");
    }

    @Test
    void a_key_has_room_for_the_mark_of_a_follower_and_does_not_look_like_one() {
        String longest = "k".repeat(250);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SYNC.job("a").key(longest, KeyRule.FOLLOW))
                .withMessageContaining("at most 249");
        assertThat(SYNC.job("a").key(longest)).isNotNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SYNC.job("a").key("k\n"))
                .withMessageContaining("line break");
    }
}
