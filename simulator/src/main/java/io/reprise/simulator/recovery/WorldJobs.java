// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.insight.JobEvent;
import io.reprise.simulator.World;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;

/**
 * The state of each job of a world, by its number. It counts the jobs of each resource that could run if nothing held
 * them back: jobs that are due and do not run. A retry whose time has not come is not among them.
 */
final class WorldJobs {

    private static final byte WAITING = 1;
    private static final byte RUNNING = 2;
    private static final byte DELAYED = 3;
    private static final byte DONE = 4;

    private final World world;
    private final Instant origin;
    private int[] resource = new int[1_024];
    private double[] arrived = new double[1_024];
    private byte[] state = new byte[1_024];
    private boolean[] deadline = new boolean[1_024];
    private final int[] available;
    private final boolean[] goodSinceEnd;
    private long waiting;
    private long unfinished;

    WorldJobs(World world, int resources) {
        this.world = world;
        this.origin = world.store.now();
        this.available = new int[resources];
        this.goodSinceEnd = new boolean[resources];
    }

    void arrive(long id, int ofResource, boolean hasDeadline) {
        int job = (int) id;
        if (job >= state.length) {
            int longer = Math.max(job + 1, 2 * state.length);
            resource = Arrays.copyOf(resource, longer);
            arrived = Arrays.copyOf(arrived, longer);
            state = Arrays.copyOf(state, longer);
            deadline = Arrays.copyOf(deadline, longer);
        }
        resource[job] = ofResource;
        arrived[job] = world.now();
        deadline[job] = hasDeadline;
        unfinished += ofResource >= 0 ? 1 : 0;
        enter(job, WAITING);
    }

    void began(long id) {
        enter((int) id, RUNNING);
    }

    double arrivedAt(long id) {
        return arrived[(int) id];
    }

    boolean hasDeadline(long id) {
        return deadline[(int) id];
    }

    void succeeded(long id) {
        int of = resource[(int) id];
        if (of >= 0) {
            goodSinceEnd[of] = true;
        }
    }

    /** Notes the end of the trouble. From now on it looks for successes. */
    void end() {
        Arrays.fill(goodSinceEnd, false);
    }

    boolean isStuck(int ofResource) {
        return !goodSinceEnd[ofResource] && available[ofResource] > 0;
    }

    void heard(JobEvent event) {
        int job = (int) event.id().value();
        switch (event.kind()) {
            case SUCCEEDED, FAILED, CANCELLED, DISCARDED -> {
                if (state[job] != DONE && resource[job] >= 0) {
                    unfinished--;
                }
                enter(job, DONE);
            }
            case RETRY_SCHEDULED, SNOOZED -> delay(job, event.dueAt());
            case RELEASED, PARKED -> enter(job, WAITING);
            default -> {}
        }
    }

    private void delay(int job, @org.jspecify.annotations.Nullable Instant due) {
        enter(job, DELAYED);
        double at = due == null ? 0 : Duration.between(origin, due).toNanos() / 1e9;
        if (at <= world.now()) {
            enter(job, WAITING);
        } else {
            world.at(at, () -> {
                if (state[job] == DELAYED) {
                    enter(job, WAITING);
                }
            });
        }
    }

    private void enter(int job, byte next) {
        int change = (next == WAITING ? 1 : 0) - (state[job] == WAITING ? 1 : 0);
        state[job] = next;
        if (resource[job] >= 0) {
            available[resource[job]] += change;
            waiting += change;
        }
    }

    /** Returns the jobs of the troubled resources that could run. */
    long available() {
        return waiting;
    }

    /** Returns the jobs of the troubled resources that have not ended. */
    long unfinished() {
        return unfinished;
    }

    /** Returns the calls per second that existing jobs could make, if each resource serves this many. */
    double wanted(double capacityOfEach) {
        double least = Math.max(1, capacityOfEach);
        int full = 0;
        for (int jobs : available) {
            full += jobs >= least ? 1 : 0;
        }
        return full * capacityOfEach;
    }
}
