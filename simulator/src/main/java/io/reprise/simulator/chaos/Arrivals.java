// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.JobRequest;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.JobId;
import io.reprise.job.RefusedException;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.chaos.ChaosPlan.Duty;
import io.reprise.simulator.chaos.ChaosPlan.PlannedJob;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** The clients. They enqueue through different workers, and try again with the same idempotency key if a call fails. */
final class Arrivals {

    static final String SCHEDULE = "tick";

    private static final Duration AGAIN = Duration.ofMillis(700);
    private static final int TRIES = 30;

    private final ChaosWorld world;
    private final SplittableRandom chance;
    private int requests;

    Arrivals(ChaosWorld world, SplittableRandom chance) {
        this.world = world;
        this.chance = chance;
    }

    void enqueue(PlannedJob job) {
        JobRequest<String> request = ChaosHandler.TYPE
                .job(job.duty().name())
                .queue(job.queue())
                .timeout(ChaosHandler.TIMEOUT)
                .after(job.delay())
                .retry(job.policy())
                .idempotencyKey("request-" + ++requests);
        if (job.duty() == Duty.MIXED) {
            request = request.resource(ChaosWorld.RESOURCE);
        }
        if (job.place().group() != null) {
            request = request.group(job.place().group());
        }
        if (!job.place().needs().isEmpty()) {
            request = request.needs(job.place().needs().toArray(String[]::new));
        }
        if (job.key() != null) {
            request = request.key(job.key().name(), job.key().rule());
        }
        enqueue(request, job.duty() == Duty.STEPS, TRIES);
    }

    private void enqueue(JobRequest<String> request, boolean waits, int tries) {
        through(tries, left -> enqueue(request, waits, left), reprise -> {
            try {
                JobId id = reprise.enqueue(request);
                if (waits) {
                    Duration later = Duration.ofMillis(chance.nextInt(20_000));
                    world.timeline().after(later, "client", () -> tell(id, TRIES));
                }
            } catch (DuplicateKeyException e) {
                // The key rule refuses the job.
            }
        });
    }

    private void tell(JobId id, int tries) {
        through(tries, left -> tell(id, left), reprise -> {
            try {
                reprise.tell(id, ChaosSteps.EVENT, "go on");
            } catch (RefusedException e) {
                // The job has ended, or was discarded.
            }
        });
    }

    /** A schedule that fires every few seconds, once each time, whichever worker leads. */
    void schedule() {
        schedule(TRIES);
    }

    private void schedule(int tries) {
        Schedule schedule = Schedule.every(
                SCHEDULE,
                Duration.ofSeconds(15),
                ChaosHandler.TYPE
                        .job(Duty.MIXED.name())
                        .queue("fast")
                        .timeout(ChaosHandler.TIMEOUT)
                        .retry(RetryPolicy.fixed(Duration.ofSeconds(1)).maxAttempts(2)));
        through(tries, this::schedule, reprise -> reprise.schedule(schedule));
    }

    private void through(int tries, Consumer<Integer> again, Consumer<Reprise> call) {
        ChaosWorker worker = world.workers().get(chance.nextInt(world.workers().size()));
        boolean[] done = {false};
        if (worker.isUp()) {
            worker.whenAwake(() -> {
                Reprise reprise = worker.reprise();
                if (reprise == null) {
                    return;
                }
                try {
                    call.accept(reprise);
                    done[0] = true;
                } catch (StoreException e) {
                    // The call may have succeeded. The key makes it safe to ask again.
                }
            });
        }
        if (!done[0] && tries > 1) {
            world.timeline().after(AGAIN, "client", () -> again.accept(tries - 1));
        }
    }
}
