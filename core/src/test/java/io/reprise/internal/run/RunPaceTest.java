// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunPaceTest {

    private final RunPace pace = new RunPace(16);

    private static List<Job> jobs(int count, int payload) {
        InMemoryJobStore store = new InMemoryJobStore();
        store.insert(Collections.nCopies(
                count, JobSpec.builder("work", "x".repeat(payload)).build()));
        List<Claim> claims = store.claim(new ClaimRequest(
                "worker",
                Duration.ofMinutes(1),
                count,
                List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, count)),
                0.2,
                true));
        return claims.get(0).jobs();
    }

    @Test
    void nothing_is_fetched_ahead_before_a_job_has_run() {
        assertThat(pace.ahead()).isZero();
    }

    @Test
    void short_jobs_are_fetched_ahead_up_to_the_most() {
        pace.ran(1_000);
        assertThat(pace.ahead()).isEqualTo(RunPace.MAX_AHEAD);
    }

    @Test
    void jobs_that_take_a_second_are_not_fetched_ahead() {
        pace.ran(Duration.ofSeconds(1).toNanos());
        assertThat(pace.ahead()).isZero();
    }

    @Test
    void large_payloads_bound_what_is_fetched_ahead_at_once() {
        pace.ran(1_000);
        pace.claimed(jobs(1, 1 << 20));
        assertThat(pace.ahead()).isEqualTo((int) (RunPace.MAX_CHARS_AHEAD >> 20));
    }

    @Test
    void a_large_payload_is_forgotten_when_none_follows() {
        pace.ran(1_000);
        pace.claimed(jobs(1, 1 << 20));
        List<Job> small = jobs(1, 100);
        for (int i = 0; i < 200; i++) {
            pace.claimed(small);
        }
        assertThat(pace.ahead()).isEqualTo(RunPace.MAX_AHEAD);
    }
}
