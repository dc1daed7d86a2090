// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import io.reprise.history.LeaseTrack.State;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The known facts of one job, and checks whether the next event can be true. */
final class JobTrack {

    private static final Map<String, String> STATES =
            Map.of("Succeed", "SUCCEEDED", "Fail", "FAILED", "Cancel", "CANCELLED");
    private static final Set<String> TERMINAL = STATES.keySet();

    /** The history's clock and the store's clock differ a little. */
    private static final long CLOCKS_DIFFER = Duration.ofMillis(10).toNanos();

    private final long id;
    private final BiConsumer<String, String> report;
    private final NavigableMap<Long, LeaseTrack> leases = new TreeMap<>();
    private final HistoryTotals tally = new HistoryTotals();
    /** Tokens that were taken over before their workers reported them. Those workers were frozen or died. */
    private final Set<Long> overtaken = new HashSet<>();

    private @Nullable String key;
    private boolean stored;
    private boolean deleted;
    /** An unknown call may have changed the job: only facts that hold in any case are checked. */
    private boolean uncertain;

    private @Nullable Instant due;
    private long dueSince = Long.MAX_VALUE;
    private @Nullable String end;
    private long endedUntil = Long.MAX_VALUE;
    private boolean suspect;
    private @Nullable HistoryEvent lastRow;
    private final StepTrack steps;
    private final Set<String> ends = new HashSet<>();
    private final Set<Instant> dues = new HashSet<>();

    JobTrack(long id, BiConsumer<String, String> report) {
        this.id = id;
        this.report = report;
        this.steps = new StepTrack(this::violated);
    }

    long id() {
        return id;
    }

    @Nullable
    String key() {
        return key;
    }

    void key(String name) {
        key = name;
    }

    boolean hasEnded() {
        return end != null || deleted;
    }

    /** Whether the job may have ended unseen. */
    boolean mayHaveEnded() {
        return hasEnded() || uncertain || mayHaveAnOutcome();
    }

    /** Whether an outcome was offered and its acceptance is unknown. */
    private boolean mayHaveAnOutcome() {
        return leases.values().stream().anyMatch(lease -> lease.state == State.OFFERED || lease.everUnknown);
    }

    void enqueued(HistoryEvent event) {
        if (event.isTrue("created")) {
            if (stored) {
                violated("stored twice", "was stored as new a second time");
            }
            stored = true;
        }
        if (event.isTrue("created") || event.isTrue("replaced")) {
            tally.limits(event);
            steps.maybeReplaced();
            due(event);
        }
    }

    private void due(HistoryEvent event) {
        Instant time = event.time("due");
        if (time != null) {
            due = time;
            dueSince = event.until();
            dues.add(time);
        }
    }

    void claimed(HistoryEvent event) {
        LeaseTrack lease = new LeaseTrack(event);
        if (isOvertaken(lease) || isOldNews(lease, event)) {
            return;
        }
        for (LeaseTrack other : leases.values()) {
            if (other.state == State.LIVE && event.isSurelyAfter(other.since)) {
                violated(
                        "two holders",
                        "was claimed by " + event.who() + " under token " + event.token() + " while " + other.holder
                                + " held it under token " + other.token);
            }
            if (other.token >= event.token() && event.isSurelyAfter(other.since)) {
                violated("token", "got token " + event.token() + " after token " + other.token);
            }
        }
        if (end != null && !uncertain && event.isSurelyAfter(endedUntil)) {
            violated("ended", "was claimed after it had ended (" + end + ")");
        }
        checkTimes(event);
        // An attempt of a worker that died before it reported it would have cleared the suspicion.
        if (suspect && !lease.suspects && !uncertain && !mayHaveAnOutcome()) {
            violated("suspect", "was lost more than once, yet claimed together with ordinary jobs");
        }
        if (!uncertain && tally.isSpent()) {
            violated("attempts", "was claimed although its " + tally + " are spent");
        }
        leases.put(event.token(), lease);
        tally.claims++;
    }

    private void checkTimes(HistoryEvent event) {
        Instant at = event.time("at");
        Instant deadline = event.time("deadline");
        if (at == null) {
            return;
        }
        if (due != null && !uncertain && event.isSurelyAfter(dueSince) && at.isBefore(due)) {
            violated("too early", "is due at " + due + " but was claimed at " + at);
        }
        if (deadline != null && !at.isBefore(deadline)) {
            violated("too late", "had its deadline at " + deadline + " but was claimed at " + at);
        }
    }

    void takenOver(HistoryEvent event) {
        if (isOvertaken(new LeaseTrack(event))) {
            // A later take-over was reported first, and the loss was counted then.
            overtaken.add(event.number("lost"));
            return;
        }
        LeaseTrack lost = leases.get(event.number("lost"));
        if (lost == null) {
            overtaken.add(event.number("lost"));
            lost = overtakenUnseen(String.valueOf(event.detail("loser")), event.token());
        }
        if (lost == null) {
            // A claim of a worker that died before it reported it.
            tally.claims++;
        } else {
            if (lost.isOver() && event.isSurelyAfter(lost.endedUntil)) {
                violated(
                        "stale rescue",
                        "was taken over from token " + lost.token + ", which had ended already (" + lost.state + ")");
            }
            if (event.until() < lost.heldUntil - CLOCKS_DIFFER) {
                violated(
                        "stolen lease",
                        "was taken over by " + event.who() + " from " + lost.holder + " "
                                + Duration.ofNanos(lost.heldUntil - event.until()) + " before its lease ended");
            }
            if (lost.token == event.number("lost") && event.isSurelyAfter(lost.disownedUntil)) {
                violated(
                        "untrue refusal",
                        "was taken over from token " + lost.token + ", of which " + lost.holder
                                + " had been told before that it was gone");
            }
            lost.end(State.TAKEN_OVER, event);
        }
        if (event.token() <= event.number("lost")) {
            violated("token", "got token " + event.token() + " after token " + event.number("lost"));
        }
        leases.put(event.token(), new LeaseTrack(event));
    }

    /** Whether the lease was reported so late that it was already over. It was counted then. */
    private boolean isOvertaken(LeaseTrack lease) {
        if (!overtaken.contains(lease.token)) {
            return false;
        }
        over(lease);
        return true;
    }

    /**
     * Whether the claim was reported after a later token. So it was over by then, and its worker died before
     * it reported or settled it.
     */
    private boolean isOldNews(LeaseTrack lease, HistoryEvent claim) {
        if (leases.tailMap(lease.token, false).values().stream().allMatch(later -> claim.isSurelyAfter(later.since))) {
            return false;
        }
        over(lease);
        return true;
    }

    private void over(LeaseTrack lease) {
        lease.state = State.TAKEN_OVER;
        lease.endedUntil = lease.since;
        leases.put(lease.token, lease);
    }

    /** Returns the earlier lease that was taken over by a worker that died before it reported or settled it. */
    private @Nullable LeaseTrack overtakenUnseen(String loser, long before) {
        return leases.values().stream()
                .filter(lease -> !lease.isOver() && lease.token < before && lease.runner.equals(loser))
                .findFirst()
                .orElse(null);
    }

    void renewed(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease != null) {
            if (lease.state == State.TAKEN_OVER && event.isSurelyAfter(lease.endedUntil)) {
                violated("zombie", "had its lease renewed under token " + lease.token + ", which was taken over");
            }
            lease.heldUntil = Math.max(lease.heldUntil, event.from() + event.number("lease"));
        }
    }

    void closed(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease != null && !lease.isOver()) {
            if (lease.state == State.LIVE) {
                tally.releases++;
            } else {
                uncertain = true;
            }
            lease.end(State.CLOSED, event);
        }
    }

    void started(HistoryEvent event, Duration slack) {
        LeaseTrack lease = leases.get(event.token());
        if (lease == null || !lease.holder.equals(event.who())) {
            violated(
                    "unclaimed run",
                    "was run by " + event.who() + " under token " + event.token() + ", which was not given to it");
            return;
        }
        if (lease.started) {
            violated("two runs", "was run twice under token " + event.token());
        }
        lease.started = true;
        Instant at = event.time("at");
        Instant deadline = event.time("deadline");
        if (at != null && deadline != null && !at.isBefore(deadline.plus(slack))) {
            violated("too late", "had its deadline at " + deadline + " but began to run at " + at);
        }
    }

    void ended(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease != null) {
            lease.handlerEnded = true;
        }
    }

    /** A listener receives only stored changes, with the stored values. */
    void told(HistoryEvent event) {
        String what = String.valueOf(event.detail("what"));
        Instant dueAt = event.time("due");
        boolean known = switch (what) {
            case "SUCCEEDED" -> ends.contains("Succeed");
            case "FAILED" -> ends.contains("Fail");
            case "CANCELLED" -> ends.contains("Cancel");
            case "RETRY_SCHEDULED", "SNOOZED" -> dueAt == null || dues.contains(dueAt.truncatedTo(ChronoUnit.MICROS));
            default -> true;
        };
        if (!known && isCertain()) {
            violated(
                    "told",
                    "was told by " + event.who() + " to be " + what + (dueAt == null ? "" : ", due at " + dueAt)
                            + ", but that was never stored");
        }
    }

    /** A worker that stopped in an orderly way leaves only handlers behind that did not end. */
    void abandoned(HistoryEvent event) {
        String worker = event.who();
        for (LeaseTrack lease : leases.values()) {
            boolean excused = !lease.claimed || (lease.started && !lease.handlerEnded);
            if (lease.state == State.LIVE && lease.holder.equals(worker) && lease.since >= event.from() && !excused) {
                violated(
                        "left behind",
                        "is still held by " + worker + ", which has stopped, under token " + lease.token);
            }
        }
    }

    void offered(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease != null && lease.state == State.LIVE) {
            lease.state = State.OFFERED;
        }
        if (lease != null && event.kind() == HistoryEvent.Kind.UNKNOWN) {
            lease.everUnknown = true;
        }
    }

    void accepted(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease == null) {
            violated("unknown token", "had an outcome accepted under token " + event.token() + ", which it never had");
        } else if (lease.isOver() && event.isSurelyAfter(lease.endedUntil)) {
            violated(
                    lease.state == State.ACCEPTED ? "two outcomes" : "stale outcome",
                    "had an outcome of " + event.who() + " accepted under token " + event.token()
                            + " although that had ended (" + lease.state + ")");
        }
        for (LeaseTrack later : leases.tailMap(event.token(), false).values()) {
            if (event.isSurelyAfter(later.since)) {
                violated(
                        "stale outcome",
                        "had an outcome of " + event.who() + " accepted under token " + event.token() + " although "
                                + later.holder + " held token " + later.token);
            }
        }
        if (end != null && !uncertain && event.isSurelyAfter(endedUntil)) {
            violated("two ends", "had ended (" + end + ") before an outcome of " + event.who() + " was accepted");
        }
        if (lease != null) {
            lease.end(State.ACCEPTED, event);
        }
        givenUp(event, lease);
        move(event, lease);
    }

    void stepped(HistoryEvent event) {
        steps.ran(event, leases.get(event.token()));
    }

    /** A step is stored only under the live token. */
    void checkpointed(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        boolean over = lease != null && lease.isOver() && event.isSurelyAfter(lease.endedUntil);
        boolean later = leases.tailMap(event.token(), false).values().stream()
                .anyMatch(other -> event.isSurelyAfter(other.since));
        if (over || later) {
            violated(
                    "stale step",
                    "had step " + event.detail("step") + " of " + event.who() + " stored under token " + event.token()
                            + ", which was not live any more");
        }
        steps.stored(event);
        tally.raise(event, true);
    }

    void maybeCheckpointed(HistoryEvent event) {
        tally.raise(event, false);
    }

    void eventTold(HistoryEvent event, boolean surely) {
        if (steps.told(event, surely)) {
            dueAtOnce();
        }
    }

    private void dueAtOnce() {
        due = null;
        dueSince = Long.MAX_VALUE;
    }

    /** A job that never ran expires only when its deadline has come by the store's clock. */
    private void givenUp(HistoryEvent event, @Nullable LeaseTrack lease) {
        Instant at = event.time("at");
        if (lease != null
                && lease.deadline != null
                && at != null
                && at.isBefore(lease.deadline)
                && event.is("spent", "NOTHING")
                && event.is("next", "Fail")) {
            violated("given up early", "was failed unrun at " + at + ", before its deadline at " + lease.deadline);
        }
    }

    private void move(HistoryEvent event, @Nullable LeaseTrack lease) {
        boolean cancelled = event.isTrue("cancelled");
        String next = cancelled ? "Cancel" : String.valueOf(event.detail("next"));
        String spent = String.valueOf(event.detail("spent"));
        tally.add(spent);
        // A cancellation that replaces the outcome leaves out its step, and so what the step grants.
        tally.raise(event, !cancelled);
        if (TERMINAL.contains(next)) {
            end(next, event);
        } else {
            due(event);
        }
        // The last child of a join makes its parent due, at a time that no call tells.
        if (steps.waits(event) || event.detail("joins") != null) {
            dueAtOnce();
        }
        if (spent.equals("ATTEMPT")) {
            suspect = false;
        } else if (spent.equals("LOSS") && next.equals("Wait")) {
            suspect |= tally.losses() > 1;
        }
        if (uncertain) {
            return;
        }
        if (tally.isOverspent()) {
            violated("attempts", "has spent " + tally);
        }
        if (spent.equals("LOSS")
                && !TERMINAL.contains(next)
                && lease != null
                && lease.alone
                && tally.isLostTooOften()) {
            violated("losses", "was lost " + tally.losses() + " times, the last time alone, and is not quarantined");
        }
    }

    void refused(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease != null) {
            lease.refused = true;
        }
        disowned(event);
    }

    /** Notes that a caller learned that the token is gone. */
    void disowned(HistoryEvent event) {
        LeaseTrack lease = leases.get(event.token());
        if (lease != null) {
            lease.disownedUntil = Math.min(lease.disownedUntil, event.until());
        }
    }

    void cancelled(HistoryEvent event) {
        if (event.is("result", "DONE")) {
            end("Cancel", event);
        }
    }

    void expired(HistoryEvent event) {
        end("Fail", event);
    }

    private void end(String how, HistoryEvent event) {
        end = how;
        ends.add(how);
        endedUntil = event.until();
        due = null;
        dueSince = Long.MAX_VALUE;
    }

    void requeued(HistoryEvent event) {
        end = null;
        endedUntil = Long.MAX_VALUE;
        due = null;
        dueSince = Long.MAX_VALUE;
        if (event.isTrue("reset")) {
            tally.reset();
            suspect = false;
        }
        tally.grant(event.number("grant"));
    }

    /** This job continues the life of another. */
    void continues(JobTrack old) {
        stored = old.stored;
        key = old.key;
        uncertain = old.uncertain;
        suspect = old.suspect;
        tally.copy(old.tally);
    }

    void deleted() {
        deleted = true;
    }

    void uncertain() {
        uncertain = true;
    }

    void row(HistoryEvent row) {
        lastRow = row;
        String state = String.valueOf(row.detail("state"));
        if (state.equals("PENDING") != (row.detail("due") != null)) {
            violated("due time", "is " + state + " and has " + (row.detail("due") == null ? "no" : "a") + " due time");
        }
        if (state.equals("PENDING") != (row.detail("wait") != null)) {
            violated("wait reason", "is " + state + " with wait reason " + row.detail("wait"));
        }
        if (state.equals("FAILED") != (row.detail("fail") != null) && !state.equals("CANCELLED")) {
            violated("fail reason", "is " + state + " with fail reason " + row.detail("fail"));
        }
        growing(row);
        if (isCertain()) {
            compare(row, state);
        }
    }

    private void growing(HistoryEvent row) {
        String tokens = row.detail("tokens");
        long last = 0;
        for (String token : tokens == null ? new String[0] : tokens.split(",", -1)) {
            if (Long.parseLong(token) <= last) {
                violated("token", "has tokens in its history that do not grow: " + tokens);
            }
            last = Long.parseLong(token);
        }
    }

    private boolean isCertain() {
        return stored && !uncertain && !mayHaveAnOutcome();
    }

    private void compare(HistoryEvent row, String state) {
        boolean held = leases.values().stream().anyMatch(lease -> !lease.isOver());
        String expected = end != null ? STATES.getOrDefault(end, end) : held ? "RUNNING" : "PENDING";
        if (!state.equals(expected)) {
            violated("state", "should be " + expected + " by what was accepted, but is " + state);
        }
        tally.compare(row, held ? 1 : 0, why -> violated("counters", why));
        steps.compare(row);
    }

    void finish(boolean drained, Set<String> unknownCalls) {
        boolean mayBePruned = unknownCalls.contains("prune");
        if (stored && !deleted && lastRow == null && !(uncertain || mayBePruned)) {
            violated("lost", "was acknowledged and is not in the store");
        }
        if (drained
                && !deleted
                && lastRow != null
                && (lastRow.is("state", "PENDING") || lastRow.is("state", "RUNNING"))) {
            violated("stuck", "has not reached its end: " + lastRow);
        }
        for (LeaseTrack lease : leases.values()) {
            boolean outlived = lease.state == State.LIVE || lease.state == State.OFFERED;
            if (lease.refused && outlived && !lease.everUnknown && !uncertain && !unknownCalls.contains("takeOver")) {
                violated(
                        "outcome lost",
                        "had the outcome under token " + lease.token
                                + " refused although nothing had ended that token");
            }
        }
    }

    private void violated(String rule, String what) {
        report.accept(rule, "Job " + id + " " + what);
    }
}
