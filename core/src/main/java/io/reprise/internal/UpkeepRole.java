// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One piece of the fleet's upkeep, done on the elected worker. Each piece is a role of its own, so that none waits for
 * another, and each is safe even if two workers believe they lead.
 */
final class UpkeepRole implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration AFTER_BUG = Duration.ofSeconds(1);

    /**
     * A piece of upkeep. It has no number of rows that it does per step: it works in batches, and comes back at once while
     * there is more.
     */
    interface Piece {

        String name();

        /** Does one batch. Returns how long to rest: nothing while there is more. */
        Duration work();

        /** What this worker has to do whether or not it leads. */
        default void finish() {}
    }

    private final Leadership leadership;
    private final Piece piece;
    private final OutageRest outage;

    UpkeepRole(EngineParts parts, Leadership leadership, Piece piece) {
        this.leadership = leadership;
        this.piece = piece;
        this.outage = new OutageRest(piece.name(), parts.random());
    }

    @Override
    public String name() {
        return piece.name();
    }

    @Override
    public Duration step() {
        try {
            piece.finish();
            Duration rest = leadership.leads() ? piece.work() : leadership.rest();
            outage.worked();
            return rest;
        } catch (StoreException e) {
            return outage.failed(e);
        } catch (RuntimeException e) {
            log.error("The {} failed in an unforeseen way and tries again", piece.name(), e);
            return AFTER_BUG;
        }
    }
}
