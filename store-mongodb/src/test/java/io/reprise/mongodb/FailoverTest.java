// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.mongodb.MongoException;
import com.mongodb.client.MongoDatabase;
import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobQuery;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.testkit.Claims;
import io.reprise.testkit.Jobs;
import io.reprise.testkit.Settlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The primary goes in the middle of the work: what was acknowledged stands, and no outcome is accepted twice. */
@Timeout(400)
class FailoverTest {

    private static final int MOST_TRIES = 100;

    private static MongoServer server;

    @BeforeAll
    static void open() {
        server = new MongoServer();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    @Test
    void what_was_acknowledged_before_a_failover_stands_after_it() {
        assumeReplicas();
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            specs.add(Jobs.spec("work").idempotencyKey("request-" + i).build());
        }
        specs.subList(0, 20).forEach(spec -> server.store().insert(List.of(spec)));
        Claim before = server.store().claim(briefly()).get(0);
        settleAll(before);
        stepDown();
        specs.forEach(spec -> untilItWorks(() -> server.store().insert(List.of(spec))));
        while (unfinished() > 0) {
            List<Claim> claims = untilItWorks(() -> server.store().claim(briefly()));
            claims.forEach(claim -> assertThat(claim.token()).isGreaterThan(before.token()));
            claims.forEach(FailoverTest::settleAll);
            if (claims.isEmpty()) {
                // Claimed by a call of which we never heard.
                untilItWorks(() -> server.store().takeOver("rescuer", Duration.ZERO, 10))
                        .forEach(lost -> settleAll(lost.claim()));
            }
        }
        List<Job> jobs = server.store().find(JobQuery.all()).items();
        assertThat(jobs).hasSize(30);
        assertThat(jobs).extracting(Job::state).containsOnly(JobState.SUCCEEDED);
        assertThat(jobs).extracting(Job::attempts).containsOnly(1);
    }

    /** Expired at once, but live until somebody takes it over. */
    private static ClaimRequest briefly() {
        return Claims.upTo(10).lease(Duration.ZERO).build();
    }

    private static void assumeReplicas() {
        server.assumeReal("replicas");
        Document hello = admin().runCommand(new Document("hello", 1));
        int members = hello.getList("hosts", String.class, List.of()).size();
        assumeTrue(members >= 3, "This replica set has " + members + " members, and a failover needs 3");
    }

    private static MongoDatabase admin() {
        return server.client().getDatabase("admin");
    }

    private static void stepDown() {
        try {
            admin().runCommand(new Document("replSetStepDown", 60).append("force", true));
        } catch (MongoException e) {
            // It may close the connection it was told by.
            assertThat(e.getCode()).as("%s", e).isNotEqualTo(13);
        }
    }

    private static long unfinished() {
        return untilItWorks(() -> server.store().find(JobQuery.all().state(JobState.PENDING, JobState.RUNNING)))
                .items()
                .size();
    }

    /** A settlement that is repeated because nobody knows whether it happened may be stale, and harms nothing. */
    private static void settleAll(Claim claim) {
        List<Settlement> outcomes = claim.jobs().stream()
                .map(job -> Settlements.success(claim, job))
                .toList();
        untilItWorks(() -> server.store().settle(outcomes, List.of(claim.token())));
    }

    private static <T> T untilItWorks(Supplier<T> call) {
        for (int tries = 1; ; tries++) {
            try {
                return call.get();
            } catch (StoreException e) {
                assertThat(e.isTransient()).as("%s", e).isTrue();
                assertThat(tries)
                        .as("tries that failed, the last one with %s", e)
                        .isLessThan(MOST_TRIES);
            }
        }
    }
}
