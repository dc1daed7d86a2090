// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.control.ControlKey;
import io.reprise.insight.JobEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.World;
import io.reprise.simulator.recovery.RecoveryPlan.Arrivals;
import io.reprise.simulator.recovery.RecoveryPlan.Staffing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Runs a plan with a trouble: the real engine, in virtual time. */
final class RecoveryWorld {

    private static final String BREAKER = ControlKey.breaker("").text();
    private static final String OTHERS = "others";
    /** Bystanders and checks pause in the middle of a long trouble. */
    private static final double AWAKE = 15;

    private static final double MOMENT = 0.001;
    /** After this part of the trouble the first worker is restarted or replaced. */
    static final double FIRST_REPLACED = 0.1;

    private static final int LOOK_ASLEEP = 60;
    /** The others are watched for this many seconds after all jobs of the troubled resources have ended. */
    private static final int WATCHED_IDLE = 10;

    private static final int BATCH = 1_000;
    /** A resource that could have served this many calls since the end must have served one. */
    private static final double ENOUGH_SERVED = 10;

    private static final int SHOWN = 50;
    /** After this time the leases of killed workers have expired, and another worker leads. */
    private static final double LEASE = 35;

    private final RecoveryPlan plan;
    private final World world;
    private final Course course = new Course();
    private final Service service;
    private final WorldJobs jobs;
    private final Crew crew;
    private final SplittableRandom chance;
    private final Limits limits;
    private int left;
    private int freshArrived;
    private int freshGood;
    /** Looks in a row that found nothing left to do for the troubled resources. */
    private int idle;

    RecoveryWorld(RecoveryPlan plan, RecoveryBug breakage) {
        this.plan = plan;
        this.world = new World(plan.seed());
        this.service = new Service(world, plan);
        this.jobs = new WorldJobs(world, plan.load().resources());
        this.chance = world.chance();
        this.limits = new Limits(plan);
        this.left = plan.load().jobs();
        this.crew = new Crew(
                world, plan, breakage.store(world.store, world), true, queues(), this::heard, this::call, this::cut);
    }

    private List<String> queues() {
        List<String> names = new ArrayList<>(List.of(OTHERS));
        for (int i = 0; i < plan.load().queues(); i++) {
            names.add("calls-" + i);
        }
        return names;
    }

    Course run() {
        double finish = limits.finish();
        if (plan.load().arrivals() == Arrivals.NONE) {
            while (left > 0) {
                arrive(Math.min(left, BATCH));
            }
        } else {
            arrivals(0);
        }
        others(0);
        look(0);
        world.at(plan.end(), jobs::end);
        staff();
        // With nothing left to do, no property can break any more.
        world.runUntil(() -> idle > WATCHED_IDLE, Math.max(finish, world.now()));
        double served = plan.capacityAfter() / plan.load().resources() * (finish - plan.end());
        for (int i = 0; i < plan.load().resources() && served >= ENOUGH_SERVED; i++) {
            if (jobs.isStuck(i)) {
                course.stuck.add("r-" + i);
            }
        }
        return course;
    }

    private void staff() {
        Staffing staffing = plan.fleet().staffing();
        if (staffing == Staffing.KEPT) {
            return;
        }
        double first = plan.begin() + FIRST_REPLACED * plan.trouble().seconds();
        double every = 0.6 * plan.trouble().seconds() / crew.size();
        for (int i = 0; i < crew.size(); i++) {
            double at = first + i * every;
            if (world.now() < at) {
                world.runUntil(at);
            }
            if (staffing == Staffing.REPLACED) {
                crew.replace(i);
                course.mourned = world.now() + LEASE;
            } else if (world.now() < plan.end()) {
                crew.restart(i);
                course.mourned = world.now();
            }
        }
    }

    // Arrivals

    private void arrivals(double at) {
        double tick = Math.max(0.01, Math.min(0.25, 10 / plan.load().rate()));
        world.at(at, () -> {
            int count = Math.min(left, poisson(tick * plan.load().rate() * factor(world.now())));
            if (count > 0) {
                arrive(count);
            }
            if (left > 0 && world.now() < limits.finish()) {
                arrivals(isAsleep(world.now(), share()) ? plan.end() - share() : world.now() + tick);
            }
        });
    }

    /** Returns how long jobs arrive at the beginning of the trouble, and again before its end. */
    private double share() {
        return Math.max(2, plan.load().jobs() / 4.0 / plan.load().rate());
    }

    private boolean isAsleep(double now, double awake) {
        return now > plan.begin() + awake && now < plan.end() - awake - MOMENT;
    }

    private double factor(double now) {
        return switch (plan.load().arrivals()) {
            case NONE -> 0;
            case STEADY -> 1;
            case BURSTS -> now % 10 < 2 ? 5 : 0;
            case FALLING -> now < plan.begin() ? 1 : Math.pow(0.5, (now - plan.begin()) / 10);
            case FLOOD -> now > plan.end() + 3 && now < plan.end() + 6 ? 10 : 1;
        };
    }

    private int poisson(double mean) {
        if (mean > 50) {
            return (int) Math.max(0, Math.round(mean + Math.sqrt(mean) * chance.nextGaussian()));
        }
        double limit = Math.exp(-mean);
        double product = chance.nextDouble();
        int count = 0;
        while (product > limit) {
            count++;
            product *= chance.nextDouble();
        }
        return count;
    }

    private void arrive(int count) {
        List<JobRequest<Integer>> batch = new ArrayList<>(count);
        List<Integer> resources = new ArrayList<>(count);
        List<Boolean> deadlines = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int resource = chance.nextInt(plan.load().resources());
            JobRequest<Integer> job = Crew.TYPE
                    .job(resource)
                    .queue("calls-" + chance.nextInt(plan.load().queues()))
                    .resource("r-" + resource);
            if (plan.timeout() > 0) {
                job = job.timeout(seconds(plan.timeout()));
            }
            double deadline = deadline();
            if (deadline > 0) {
                job = job.retry(RetryPolicy.DEFAULT.deadline(seconds(deadline)));
            }
            batch.add(job);
            resources.add(resource);
            deadlines.add(deadline > 0);
        }
        List<JobId> ids = crew.any().enqueueAll(batch);
        for (int i = 0; i < count; i++) {
            jobs.arrive(ids.get(i).value(), resources.get(i), deadlines.get(i));
        }
        left -= count;
        freshArrived += world.now() < plan.end() ? 0 : count;
        course.jobs += count;
        now().arrived += count;
    }

    /** Returns the seconds from now to a deadline in the trouble; 0 for most jobs, which have none. */
    private double deadline() {
        if (plan.load().deadlines() == 0 || chance.nextDouble() >= plan.load().deadlines()) {
            return 0;
        }
        double left = plan.begin() + chance.nextDouble() * plan.trouble().seconds() - world.now();
        return left > 1 ? left : 0;
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(1e3 * seconds));
    }

    /**
     * Enqueues jobs of healthy resources. They have a queue of their own: behind a backlog they
     * could not keep their rate.
     */
    private void others(double at) {
        double rate = plan.load().bystanders();
        if (rate == 0) {
            return;
        }
        world.at(at, () -> {
            int resource = chance.nextInt(plan.load().resources());
            String queue = plan.load().arrivals() == Arrivals.NONE
                    ? OTHERS
                    : "calls-" + chance.nextInt(plan.load().queues());
            JobId id =
                    crew.any().enqueue(Crew.TYPE.job(-1 - resource).queue(queue).resource("well-" + resource));
            jobs.arrive(id.value(), -1, false);
            now().othersArrived++;
            double next = world.now() - Math.log1p(-chance.nextDouble()) / rate;
            if (next < limits.finish()) {
                others(isAsleep(next, AWAKE) ? plan.end() - AWAKE : next);
            }
        });
    }

    // Calls

    private void call(int resource, int worker, JobContext job, Crew.Answer answer) {
        long id = job.id().value();
        jobs.began(id);
        if (resource < 0) {
            double took = service.usual();
            world.after(took, () -> {
                if (answer.end(null)) {
                    now().othersGood++;
                }
            });
            return;
        }
        double began = world.now();
        course.calls++;
        now().calls++;
        service.call(resource, worker, error -> {
            if (answer.end(error)) {
                count(id, began, error);
            }
        });
    }

    /** A call whose time was up has failed, although the resource may still work on it. */
    private void cut(int resource) {
        if (resource >= 0) {
            now().failed++;
        }
    }

    private void count(long id, double began, @Nullable Exception error) {
        Course.Second second = now();
        if (error != null) {
            if (error instanceof io.reprise.failure.FailureDetails details
                    && Integer.valueOf(429).equals(details.httpStatus())) {
                second.throttled++;
            } else {
                second.failed++;
            }
            return;
        }
        second.good++;
        second.took += world.now() - began;
        course.succeeded++;
        jobs.succeeded(id);
        if (began >= plan.end() && Double.isNaN(course.firstGood)) {
            course.firstGood = world.now();
        }
        if (jobs.arrivedAt(id) >= plan.end()) {
            second.fresh++;
            freshGood++;
            if (jobs.arrivedAt(id) > limits.over(course) + limits.timeTo90()) {
                course.freshWaits.add(world.now() - jobs.arrivedAt(id));
            }
        }
    }

    private void heard(JobEvent event) {
        if (event.kind() == JobEvent.Kind.ENQUEUED) {
            return;
        }
        jobs.heard(event);
        if (event.kind() == JobEvent.Kind.FAILED) {
            course.dead++;
            course.wronglyDead += jobs.hasDeadline(event.id().value()) ? 0 : 1;
        }
    }

    private Course.Second now() {
        return course.at((int) world.now());
    }

    // Looks

    private void look(int second) {
        world.at(second, () -> {
            Course.Second now = course.at(second);
            now.available = jobs.available();
            now.freshWaiting = freshArrived - freshGood;
            Map<String, Long> parked = world.store.parked();
            now.parked = sum(parked, name -> true);
            now.sustained = limits.sustained(jobs, sum(parked, name -> !name.startsWith(BREAKER)));
            if (plan.load().resources() <= SHOWN) {
                crew.any().resources().stream()
                        .filter(status -> status.name().equals("r-0"))
                        .forEach(status -> show(status, now));
            }
            boolean done = second > limits.over(course) && left == 0 && jobs.unfinished() == 0;
            idle = done ? idle + 1 : 0;
            if (second < limits.finish()) {
                look(
                        !isAsleep(second, AWAKE) || !isAsleep(second + 1.0, AWAKE)
                                ? second + 1
                                : Math.min(second + LOOK_ASLEEP, (int) (plan.end() - AWAKE)));
            }
        });
    }

    private static long sum(Map<String, Long> parked, Predicate<String> which) {
        return parked.entrySet().stream()
                .filter(entry -> which.test(entry.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private static void show(ResourceStatus status, Course.Second now) {
        now.phase = status.phase().name();
        ResourceStatus.RampStatus ramp = status.ramp();
        now.why = ramp == null ? status.why() : ramp.why();
        now.limit = ramp == null ? Double.NaN : ramp.rate();
    }
}
