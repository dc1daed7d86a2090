// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One token of one job, as far as the history shows. */
final class LeaseTrack {

    /** Whether the token is live. */
    enum State {
        LIVE,
        /** An outcome was offered, and its acceptance is not known yet, or never will be. */
        OFFERED,
        ACCEPTED,
        TAKEN_OVER,
        /** The whole lease was closed, and the job is as before the claim. */
        CLOSED
    }

    final long token;
    final String holder;
    /** The worker that claimed the job; after take-overs still the first worker that lost it. */
    final String runner;

    final boolean alone;
    final boolean suspects;
    /** Claimed, not taken over. A lease that a leader took over and could not settle waits for the next leader. */
    final boolean claimed;

    final @Nullable Instant deadline;
    /** When the call that gave it out began, and when it was over. */
    final long asked;

    final long since;

    State state = State.LIVE;
    /** When the call that ended it was over. */
    long endedUntil = Long.MAX_VALUE;
    /** It cannot be taken over before this, unless it is renewed. */
    long heldUntil;

    boolean started;
    boolean handlerEnded;
    boolean refused;
    /** When the first call was over that reported it gone. */
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
        this.asked = given.from();
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
