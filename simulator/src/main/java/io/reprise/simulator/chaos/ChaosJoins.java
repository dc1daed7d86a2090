// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.ManualRetry;
import io.reprise.Operations;
import io.reprise.Replay;
import io.reprise.batch.BatchMember;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.step.StoredStep;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * A person who mends joins that failed, after the faults: replays the dead jobs of a join under new ids, and then retries
 * the job that joins them. It must succeed, because the replayed jobs keep their places.
 */
final class ChaosJoins {

    private static final int PAGE = 100;

    private final ChaosWorld world;
    private final Troubles hand;

    ChaosJoins(ChaosWorld world, Troubles hand) {
        this.world = world;
        this.hand = hand;
    }

    void mend() {
        List<Job> broken = new ArrayList<>();
        List<Job> dead = new ArrayList<>();
        for (Job parent : world.store().find(JobQuery.all().limit(1_000)).items()) {
            List<Job> children = dead(parent);
            if (!children.isEmpty()) {
                broken.add(parent);
                dead.addAll(children);
            }
        }
        each(dead, (person, child) -> person.replay(child, Replay.FRESH.asNewJob()));
        each(broken, (person, parent) -> person.retry(parent, ManualRetry.NOW.forced()));
        for (Job parent : broken) {
            world.store()
                    .find(parent.id())
                    .filter(now -> now.state() != JobState.SUCCEEDED)
                    .ifPresent(now -> world.violated(
                            "join stays broken",
                            now.id(),
                            "is " + now.state() + " although the dead jobs of its join were replayed"));
        }
    }

    /** Acts on those of these jobs that are still dead letters, until each call has succeeded, and lets all jobs end. */
    private void each(List<Job> jobs, BiConsumer<Operations, JobId> action) {
        Set<JobId> open = new HashSet<>();
        jobs.forEach(job -> open.add(job.id()));
        for (Job job : jobs) {
            hand.insist(person -> {
                if (isDead(job.id())) {
                    action.accept(person, job.id());
                }
                open.remove(job.id());
            });
        }
        world.drain(open::isEmpty);
    }

    private boolean isDead(JobId id) {
        return world.store()
                .find(id)
                .filter(job -> job.state() == JobState.FAILED)
                .isPresent();
    }

    /** Returns the dead jobs of a failed join; none if one of its jobs was cancelled or is gone. */
    private List<Job> dead(Job parent) {
        boolean failed =
                parent.state() == JobState.FAILED && parent.spec().payload().equals(ChaosPlan.Duty.JOIN.name());
        StoredStep join = world.store().steps(parent.id()).steps().stream()
                .filter(step -> step.kind() == StoredStep.Kind.JOIN)
                .findFirst()
                .orElse(null);
        if (!failed || join == null) {
            return List.of();
        }
        List<BatchMember> members = world.store().members(Objects.requireNonNull(join.value()), -1, PAGE);
        List<Job> dead = new ArrayList<>();
        for (BatchMember member : members) {
            Job child = world.store().find(member.job()).orElse(null);
            if (member.state() == JobState.CANCELLED || child == null) {
                return List.of();
            }
            if (child.state() == JobState.FAILED) {
                dead.add(child);
            }
        }
        return members.size() == ChaosHandler.PARTS.size() ? dead : List.of();
    }
}
