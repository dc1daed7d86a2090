// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.insight.JobEvent;
import io.reprise.simulator.Errors;
import io.reprise.simulator.World;
import io.reprise.simulator.recovery.RecoveryPlan.Retries;
import io.reprise.simulator.recovery.RecoveryPlan.Storm;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

/** Runs a plan with a storm: jobs that all fail once. */
final class StormWorld {

    private static final int BATCH = 1_000;
    private static final double LONGEST = 100_000;
    /** How long failing retries are observed after the first runs have ended. */
    private static final double WATCHED = 60;

    private final RecoveryPlan plan;
    private final Storm storm;
    private final World world;
    private final Course course = new Course();
    private final Service service;
    private final SplittableRandom chance;
    private final Crew crew;
    private long ended;

    StormWorld(RecoveryPlan plan, RecoveryBug breakage, boolean controlled) {
        this.plan = plan;
        this.storm = Objects.requireNonNull(plan.storm());
        this.world = new World(plan.seed());
        this.service = new Service(world, plan);
        this.chance = world.chance();
        this.crew = new Crew(
                world,
                plan,
                breakage.store(world.store, world),
                controlled,
                List.of("storm"),
                this::heard,
                this::call,
                resource -> {});
    }

    Course run() {
        for (int left = storm.jobs(); left > 0; left -= BATCH) {
            arrive(Math.min(left, BATCH));
        }
        look(0);
        if (storm.retries() == Retries.SUCCEED || storm.retries() == Retries.LATER) {
            // Long enough to see how much too slow it is.
            world.runUntil(() -> ended == storm.jobs(), 4 * ideal(plan) + 30 + 2 * backoff(plan));
            course.drained = ended == storm.jobs() ? world.now() : Double.NaN;
        } else {
            world.runUntil(() -> ended == storm.jobs(), Math.min(LONGEST, 2 * ideal(plan) + WATCHED));
        }
        return course;
    }

    /** Returns the seconds needed if every retry runs as soon as its backoff is over and a place is free. */
    static double ideal(RecoveryPlan plan) {
        int jobs = Objects.requireNonNull(plan.storm()).jobs();
        double backoff = 2;
        return Math.max(2.0 * jobs / plan.workersRate(), jobs / plan.workersRate() + backoff);
    }

    /** Returns when the last backoff may be over in which a job is when its retries begin to succeed. */
    static double backoff(RecoveryPlan plan) {
        return Objects.requireNonNull(plan.storm()).retries() == Retries.LATER ? 3 * Retries.TROUBLE : 0;
    }

    private void arrive(int count) {
        List<JobRequest<Integer>> batch = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            JobRequest<Integer> job = Crew.TYPE.job(0).queue("storm");
            batch.add(storm.resource() ? job.resource("r-0") : job);
        }
        crew.any().enqueueAll(batch);
        course.jobs += count;
    }

    private void call(int resource, int worker, JobContext job, Crew.Answer answer) {
        now().calls++;
        course.calls++;
        boolean first = job.attempt() == 1;
        if (!first) {
            course.retries++;
        }
        world.after(service.usual(), () -> {
            boolean fails = first || fails();
            if (fails) {
                now().failed++;
            } else {
                now().good++;
                course.succeeded++;
            }
            answer.end(fails ? Errors.failed() : null);
        });
    }

    private boolean fails() {
        return switch (storm.retries()) {
            case SUCCEED -> false;
            case FAIL -> true;
            case HALF -> chance.nextBoolean();
            case LATER -> world.now() < Retries.TROUBLE;
        };
    }

    private void heard(JobEvent event) {
        if (event.kind() == JobEvent.Kind.SUCCEEDED) {
            ended++;
        } else if (event.kind() == JobEvent.Kind.FAILED) {
            ended++;
            course.dead++;
        }
    }

    private Course.Second now() {
        return course.at((int) world.now());
    }

    private void look(int second) {
        world.at(second, () -> {
            Course.Second now = course.at(second);
            now.parked = world.store.parked().values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            now.available = storm.jobs() - ended;
            look(second + 1);
        });
    }
}
