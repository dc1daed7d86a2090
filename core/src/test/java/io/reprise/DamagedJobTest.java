// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a worker does with a job that its store does not understand. */
class DamagedJobTest {

    /** A store that takes the first job for damaged. */
    private static JobStore damaging(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    try {
                        Object answer = method.invoke(store, args);
                        return method.getName().equals("claim") ? damaged((List<?>) answer) : answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static List<Claim> damaged(List<?> claims) {
        return claims.stream()
                .map(Claim.class::cast)
                .map(claim -> new Claim(
                        claim.token(),
                        claim.queue(),
                        claim.claimedAt(),
                        claim.alone(),
                        claim.jobs(),
                        claim.admitted(),
                        Map.of(new JobId(1), "tag '' is not a name")))
                .toList();
    }

    @Test
    void a_damaged_job_becomes_a_dead_letter_that_says_why_and_the_others_run() {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, options -> options, DamagedJobTest::damaging)) {
            JobId bad = engine.reprise.enqueue(WORK.job("bad"));
            JobId good = engine.reprise.enqueue(WORK.job("good"));
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.ran).containsExactly("good");
            assertThat(engine.job(good).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(bad).failReason()).isEqualTo(FailReason.UNREADABLE);
            assertThat(engine.job(bad).status().lastError()).asString().contains("tag ''");
        }
    }
}
