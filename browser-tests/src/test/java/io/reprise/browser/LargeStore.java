// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import io.reprise.failure.Failure;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Fills a store: many jobs that wait, a tenth of all dead in 300 groups, some that are retried later, ten batches. */
final class LargeStore {

    static final int GROUPS = 300;
    static final String DRAINED = "drained";
    static final String BATCH_NAME = "import-0";
    private static final int MEMBERS = 1_000;
    private static final int BATCHES = 10;
    private static final int BATCH = 1_000;
    private static final int QUEUES = 8;
    private static final String DYING = "dying";
    private static final String RETRIED = "retried";

    private final JobStore store;
    private final int jobs;

    LargeStore(JobStore store, int jobs) {
        this.store = store;
        this.jobs = jobs;
    }

    /** Returns how many of the jobs are there to be drained. */
    int toDrain() {
        return (jobs - jobs / 10 - jobs / 20) / 2;
    }

    void fill() {
        batches();
        int dead = jobs / 10;
        int retried = jobs / 20;
        end(DYING, dead);
        end(RETRIED, retried);
        int left = jobs - dead - retried;
        for (int done = 0; done < left; done += BATCH) {
            List<JobSpec> batch = new ArrayList<>();
            for (int i = 0; i < Math.min(BATCH, left - done); i++) {
                int n = done + i;
                // Half of the jobs are there to be drained; the others wait in queues that nobody serves.
                String queue = n % 2 == 0 ? DRAINED : "queue-" + n / 2 % QUEUES;
                batch.add(spec("work-" + n % 20, queue, n));
            }
            store.insert(batch);
        }
    }

    /** Batches whose members are the oldest jobs: a list of them has to pass over all others. */
    private void batches() {
        for (int n = 0; n < BATCHES; n++) {
            String name = "import-" + n;
            store.createBatch(name, null, null);
            List<JobSpec> members = new ArrayList<>();
            for (int i = 0; i < Math.min(MEMBERS, jobs / 100); i++) {
                members.add(TestJobs.spec("part").queue("parts").batch(name).build());
            }
            store.insert(members);
        }
    }

    /** Returns jobs like those that are drained. */
    static List<JobSpec> toDrain(int count) {
        List<JobSpec> batch = new ArrayList<>();
        for (int n = 0; n < count; n++) {
            batch.add(spec("work-" + n % 20, DRAINED, n));
        }
        return batch;
    }

    private static JobSpec spec(String type, String queue, int n) {
        JobSpec.Builder spec = TestJobs.spec(type).queue(queue).payload("{\"order\":" + n + ",\"note\":\"as usual\"}");
        return (n % 3 == 0 ? spec.resource("host-" + n % 7) : spec).build();
    }

    /** Runs so many jobs once: they die, or are to be retried in an hour. */
    private void end(String queue, int count) {
        for (int done = 0; done < count; done += BATCH) {
            List<JobSpec> batch = new ArrayList<>();
            for (int i = 0; i < Math.min(BATCH, count - done); i++) {
                batch.add(spec("work-" + i % 20, queue, done + i));
            }
            store.insert(batch);
            settle(queue, batch.size(), done);
        }
    }

    private void settle(String queue, int count, int first) {
        ClaimRequest request = TestClaims.upTo(BATCH)
                .demands(new ClaimRequest.Demand(queue, BATCH))
                .build();
        for (int settled = 0; settled < count; ) {
            List<Settlement> outcomes = new ArrayList<>();
            for (Claim claim : store.claim(request)) {
                for (Job job : claim.jobs()) {
                    outcomes.add(outcome(queue, claim, job, first + settled + outcomes.size()));
                }
            }
            store.settle(outcomes);
            settled += outcomes.size();
        }
    }

    private static Settlement outcome(String queue, Claim claim, Job job, int n) {
        Failure failure = Failure.reported(
                "io.example.Error" + n % GROUPS, "code", 500, "order " + n + " was refused by the other side", null);
        return queue.equals(DYING)
                ? TestSettlements.fail(claim, job, failure)
                : TestSettlements.retry(claim, job, Duration.ofHours(1));
    }
}
