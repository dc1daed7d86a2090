// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.simulator.Errors;
import io.reprise.simulator.World;
import io.reprise.simulator.recovery.RecoveryPlan.CallTime;
import io.reprise.simulator.recovery.RecoveryPlan.Kind;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The resources that jobs call, each with its share of the capacity, and with the trouble of the plan. */
final class Service {

    /** A refused call takes no longer than this. */
    private static final double LONGEST_REFUSAL = 0.5;

    private static final double PART_THAT_FAILS = 0.3;
    private static final double PART_THAT_IS_SERVED = 0.1;
    private static final double BURST_SECONDS = 0.5;
    private static final double SCATTER = 30;

    private final World world;
    private final RecoveryPlan plan;
    private final SplittableRandom chance;
    private final double[] nextFree;
    private final double[] tokens;
    private final double[] filled;
    private final double[] sees;
    private final double flap;
    private final Duration retryAfter;

    Service(World world, RecoveryPlan plan) {
        this.world = world;
        this.plan = plan;
        this.chance = world.chance();
        int resources = plan.load().resources();
        this.nextFree = new double[resources];
        this.tokens = new double[resources];
        this.filled = new double[resources];
        // All workers begin at the same moment. No call must be refused for that.
        Arrays.fill(tokens, 1 + 2.0 * plan.places() / resources);
        this.sees = chance.doubles(2L * plan.fleet().workers()).toArray();
        this.flap = 3 + chance.nextInt(8);
        this.retryAfter = Duration.ofSeconds(1 + chance.nextInt(10));
    }

    /** Returns how long an undisturbed call takes. */
    double usual() {
        if (plan.trouble().call() != CallTime.MIXED) {
            return plan.trouble().call().mean;
        }
        return switch (chance.nextInt(3)) {
            case 0 -> CallTime.MS_5.mean;
            case 1 -> CallTime.MS_50.mean;
            default -> CallTime.MS_500.mean;
        };
    }

    void call(int resource, int worker, Consumer<@Nullable Exception> answer) {
        double now = world.now();
        double usual = usual();
        Exception error = trouble(resource, worker, now);
        if (error != null) {
            world.after(Math.min(usual, LONGEST_REFUSAL), () -> answer.accept(error));
        } else if (plan.trouble().kind() == Kind.SLOW && now >= plan.begin() && now < plan.end()) {
            world.after(plan.slowTime(), () -> answer.accept(null));
        } else {
            serve(resource, now, usual, answer);
        }
    }

    private @Nullable Exception trouble(int resource, int worker, double now) {
        if (now < plan.begin() || now >= plan.end()) {
            return null;
        }
        return switch (plan.trouble().kind()) {
            case DOWN -> Errors.refused();
            case SLOW -> null;
            case PARTLY -> chance.nextDouble() < PART_THAT_FAILS ? Errors.overloaded() : null;
            case THROTTLED -> passes(resource, now, lessServed()) ? null : Errors.throttled(null);
            case THROTTLED_ASKED -> passes(resource, now, lessServed()) ? null : Errors.throttled(retryAfter);
            case FLAPPING -> ((long) ((now - plan.begin()) / flap)) % 2 == 0 ? Errors.refused() : null;
            case SCATTERED -> seesTrouble(worker, now) ? Errors.refused() : null;
        };
    }

    private double lessServed() {
        return plan.load().rate() * PART_THAT_IS_SERVED / plan.load().resources();
    }

    private boolean seesTrouble(int worker, double now) {
        double spread = Math.min(SCATTER, plan.trouble().seconds() / 2);
        double from = plan.begin() + spread * sees[2 * worker];
        double until = plan.end() - spread * sees[2 * worker + 1];
        return now >= from && now < until;
    }

    private void serve(int resource, double now, double usual, Consumer<@Nullable Exception> answer) {
        double all = now < plan.end() ? plan.capacityBefore() : plan.capacityAfter();
        double capacity = all / plan.load().resources();
        switch (plan.trouble().overflow()) {
            case QUEUES -> {
                double start = Math.max(now, nextFree[resource]);
                nextFree[resource] = start + 1 / capacity;
                world.at(start + usual, () -> answer.accept(null));
            }
            case REFUSES -> limited(passes(resource, now, capacity), usual, Errors.overloaded(), answer);
            case THROTTLES -> limited(passes(resource, now, capacity), usual, Errors.throttled(null), answer);
        }
    }

    private void limited(boolean passes, double usual, Exception refusal, Consumer<@Nullable Exception> answer) {
        if (passes) {
            world.after(usual, () -> answer.accept(null));
        } else {
            world.after(Math.min(usual, LONGEST_REFUSAL), () -> answer.accept(refusal));
        }
    }

    private boolean passes(int resource, double now, double capacity) {
        double most = Math.max(1, BURST_SECONDS * capacity);
        double grown = Math.min(most, tokens[resource] + capacity * (now - filled[resource]));
        tokens[resource] = Math.max(tokens[resource], grown);
        filled[resource] = now;
        if (tokens[resource] < 1) {
            return false;
        }
        tokens[resource]--;
        return true;
    }
}
