// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.history;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One token of one job, as far as the history tells. */
final class LeaseTrack {

    /** Whether the token is live. */
    enum State {
        LIVE,
        /** An outcome was offered, and it is not known yet, or never will be, whether it was accepted. */
        OFFERED,
        ACCEPTED,
        TAKEN_OVER,
        /** The whole lease was closed, and the job is as it was before the claim. */
        CLOSED
    }

    final long token;
    final String holder;
    /** Who claimed the job; after take-overs still the first who lost it. */
    final String runner;

    final boolean alone;
    final boolean suspects;
    /** Not taken over from another: what a leader took over and could not settle waits for the next one. */
    final boolean claimed;

    final @Nullable Instant deadline;
    /** When the call that gave it out was over. */
    final long since;

    State state = State.LIVE;
    /** When the call that ended it was over. */
    long endedUntil = Long.MAX_VALUE;
    /** Not taken over before this, unless renewed. */
    long heldUntil;

    boolean started;
    boolean handlerEnded;
    boolean refused;
    /** When the first call was over whose answer was that it is gone. */
    long disownedUntil = Long.MAX_VALUE;

    boolean everUnknown;

    LeaseTrack(HistoryEvent given) {
        this.token = given.token();
        this.holder = given.who();
        String loser = given.detail("loser");
        this.runner = loser == null ? given.who() : loser;
        this.alone = given.isTrue("alone");
        this.suspects = alone || given.isTrue("suspects");
        this.claimed = given.kind() == HistoryEvent.Kind.CLAIMED;
        this.deadline = given.time("deadline");
        this.since = given.until();
        this.heldUntil = given.from() + given.number("lease");
    }

    void end(State how, HistoryEvent event) {
        state = how;
        endedUntil = event.until();
    }

    boolean isOver() {
        return state != State.LIVE && state != State.OFFERED;
    }
}
