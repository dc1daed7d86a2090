// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One piece of the fleet's upkeep, done on the leader. Each piece is a role with its own thread, so no piece waits for
 * another. Each piece stays safe if two workers believe that they lead.
 */
public final class UpkeepRole implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration AFTER_BUG = Duration.ofSeconds(1);

    /** A piece of upkeep. It works in batches without a limit per step: it returns at once while there is more. */
    interface Piece {

        String name();

        /** Does one batch. Returns how long to rest; zero while there is more. */
        Duration work();

        /** Finishes work that this worker began, whether or not it still leads. */
        default void finish() {}
    }

    private final Leadership leadership;
    private final Piece piece;
    private final OutageRest outage;

    public UpkeepRole(EngineParts parts, Leadership leadership, Piece piece) {
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
