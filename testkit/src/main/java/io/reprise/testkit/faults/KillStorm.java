// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Kills workers as {@code kill -9} does, each after a random part of its history, while others replace them. */
public final class KillStorm {

    private static final int WORKERS = 4;

    /** Freezes among four workers, only in a long run: each takes a lease and a half. */
    private static final int FREEZES = FaultFleet.times(0, 1);

    private final FaultFleet fleet;
    private final Random random = new Random(1);
    private final List<Victim> victims = new ArrayList<>();
    private int kills;
    private int freezes;

    private KillStorm(FaultFleet fleet) {
        this.fleet = fleet;
    }

    /** Kills this many workers. A last worker finishes the jobs. Returns a summary. */
    public static String over(FaultFleet fleet, int kills) {
        KillStorm storm = new KillStorm(fleet);
        storm.rage(kills);
        return storm.kills + " kills, " + storm.freezes + " freezes";
    }

    private void rage(int wanted) {
        for (int i = 1; i <= wanted; i++) {
            int killed = i;
            fleet.until("kill " + killed, () -> step() >= killed);
        }
        victims.stream()
                .filter(victim -> victim.frozen)
                .forEach(victim -> victim.worker.process().resume());
        fleet.startWorker();
    }

    /** Freezes, thaws or kills each worker whose time has come. Returns how many died. */
    private int step() {
        while (victims.size() < WORKERS) {
            victims.add(new Victim(fleet.startWorker(), random));
        }
        for (Victim victim : List.copyOf(victims)) {
            if (victim.suffer()) {
                victims.remove(victim);
                kills++;
                freezes += victim.thawed ? 1 : 0;
            }
        }
        return kills;
    }

    /**
     * A worker, and how many bytes of history it may write. In a long run some workers are first frozen
     * for longer than a lease.
     */
    private final class Victim {
        private final FaultFleet.Worker worker;
        private final int life;
        private final int freezeAt;
        private long frozenAt;
        private boolean frozen;
        private boolean thawed;

        Victim(FaultFleet.Worker worker, Random random) {
            this.worker = worker;
            this.life = 1 + random.nextInt(fleet.tempo().longestLife());
            this.freezeAt = random.nextInt(4) < FREEZES ? random.nextInt(life) : Integer.MAX_VALUE;
        }

        /** Freezes, thaws or kills it, if it is time to. Returns whether it is dead. */
        boolean suffer() {
            assertThat(worker.process().isAlive())
                    .as("a worker died by itself: %s", worker.process().logTail())
                    .isTrue();
            if (frozen) {
                // A frozen writer of SQLite may block all others, so their progress is no sign.
                if (System.nanoTime() - frozenAt > fleet.tempo().lease().toNanos() * 3 / 2) {
                    worker.process().resume();
                    frozen = false;
                    thawed = true;
                }
            } else if (!thawed && worker.historySize() >= freezeAt) {
                worker.process().pause();
                frozenAt = System.nanoTime();
                frozen = true;
            } else if (worker.historySize() >= life) {
                worker.process().kill();
                return true;
            }
            return false;
        }
    }
}
