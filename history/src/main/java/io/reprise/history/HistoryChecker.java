// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import io.reprise.job.JobSpec.Needs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Reads a history in order and reports violations. Of leases: two accepted outcomes, two holders, tokens that do not
 * grow. Of jobs: a lost job, too many attempts, wrong counters, a run too early or too late, two holders of a unique
 * key. Of steps: a step of a stale run, a lost or repeated step, a lost event. An event that may have happened without being seen is assumed to be valid.
 *
 * <p>Feed it events one by one, and call {@link #finish} at the end, after a {@link HistoryEvent.Kind#ROW} for every
 * job in the store. Not thread-safe.
 */
public final class HistoryChecker {

    private final Map<Long, JobTrack> jobs = new TreeMap<>();
    private final Map<Long, Set<JobTrack>> byToken = new HashMap<>();
    private final KeyCheck keys = new KeyCheck(this::report);
    private final Map<String, Long> pausedUntil = new HashMap<>();
    private final Set<String> fired = new HashSet<>();
    private final List<Violation> violations = new ArrayList<>();
    private final Duration deadlineSlack;
    private final Set<String> unknownCalls = new HashSet<>();

    /**
     * Creates a checker for one history.
     *
     * @param deadlineSlack how long after its deadline a run may begin, because a worker knows the store's clock only
     *     as exactly as calls are quick
     */
    public HistoryChecker(Duration deadlineSlack) {
        this.deadlineSlack = deadlineSlack;
    }

    /**
     * Checks a whole history.
     *
     * @param drained whether every job must have ended
     */
    public static List<Violation> check(JobHistory history, Duration deadlineSlack, boolean drained) {
        HistoryChecker checker = new HistoryChecker(deadlineSlack);
        history.events().forEach(checker::accept);
        return checker.finish(drained);
    }

    /** Returns the violations so far. */
    public List<Violation> violations() {
        return List.copyOf(violations);
    }

    /** Processes the next event. */
    public void accept(HistoryEvent event) {
        switch (event.kind()) {
            case ENQUEUED -> enqueued(event);
            case CLAIMED -> claimed(event);
            case TAKEN_OVER -> {
                track(event.job()).takenOver(event);
                hold(event);
            }
            case RENEWED -> holders(event).forEach(job -> job.renewed(event));
            case CLOSED -> holders(event).forEach(job -> job.closed(event));
            case STARTED -> track(event.job()).started(event, deadlineSlack);
            case OFFERED -> track(event.job()).offered(event);
            case ACCEPTED -> accepted(event);
            case REFUSED -> track(event.job()).refused(event);
            case CANCELLED -> cancelled(event);
            case REQUEUED -> requeued(event);
            case DISCARDED -> {
                track(event.job()).deleted();
                keys.freed(track(event.job()));
            }
            case EXPIRED -> {
                track(event.job()).expired(event);
                keys.freed(track(event.job()));
            }
            case FIRED -> fired(event);
            case PAUSED -> pausedUntil.putIfAbsent(queue(event), event.until());
            case RESUMED -> pausedUntil.remove(queue(event));
            case UNKNOWN -> unknown(event);
            case STEPPED -> track(event.job()).stepped(event);
            case CHECKPOINTED -> track(event.job()).checkpointed(event);
            case EVENT_TOLD -> track(event.job()).eventTold(event, true);
            case ROW -> {
                track(event.job()).row(event);
                keys.row(event);
            }
            case ENDED -> track(event.job()).ended(event);
            case TOLD -> track(event.job()).told(event);
            case STOPPED -> jobs.values().forEach(job -> job.abandoned(event));
            case LEASE_LOST -> holders(event).forEach(job -> job.disowned(event));
            case UNANSWERED -> {
                // Always allowed: the store may be gone at any time.
            }
        }
    }

    /**
     * Makes the checks that are possible only at the end.
     *
     * @param drained whether every job must have ended
     */
    public List<Violation> finish(boolean drained) {
        for (JobTrack job : jobs.values()) {
            job.finish(drained, unknownCalls);
        }
        return violations();
    }

    void report(String rule, String sentence) {
        violations.add(new Violation(rule, sentence));
    }

    private JobTrack track(long job) {
        return jobs.computeIfAbsent(job, id -> new JobTrack(id, this::report));
    }

    private void hold(HistoryEvent event) {
        byToken.computeIfAbsent(event.token(), token -> new HashSet<>()).add(track(event.job()));
    }

    private Set<JobTrack> holders(HistoryEvent event) {
        return byToken.getOrDefault(event.token(), Set.of());
    }

    private static String queue(HistoryEvent event) {
        return Objects.requireNonNull(event.detail("queue"));
    }

    private void enqueued(HistoryEvent event) {
        track(event.job()).enqueued(event);
        keys.enqueued(event, track(event.job()));
    }

    private void claimed(HistoryEvent event) {
        track(event.job()).claimed(event);
        hold(event);
        // Jobs with needs wait in queues beside the one that they name.
        Stream.of(queue(event), Needs.base(queue(event))).distinct().forEach(queue -> {
            Long paused = pausedUntil.get(queue);
            if (paused != null && event.isSurelyAfter(paused)) {
                report("paused queue", "Job " + event.job() + " was claimed although queue " + queue + " is paused");
            }
        });
    }

    private void accepted(HistoryEvent event) {
        JobTrack job = track(event.job());
        job.accepted(event);
        if (job.hasEnded()) {
            keys.freed(job);
        }
    }

    private void cancelled(HistoryEvent event) {
        JobTrack job = track(event.job());
        job.cancelled(event);
        if (job.hasEnded()) {
            keys.freed(job);
        }
    }

    private void requeued(HistoryEvent event) {
        JobTrack old = track(event.job());
        long id = event.number("id");
        if (id == event.job()) {
            old.requeued(event);
            keys.held(old);
        } else {
            JobTrack now = track(id);
            now.continues(old);
            now.requeued(event);
            old.deleted();
            keys.freed(old);
            keys.held(now);
        }
    }

    private void fired(HistoryEvent event) {
        String firing = event.detail("schedule") + " at " + event.detail("due");
        if (!fired.add(firing)) {
            report("fired twice", "Schedule " + firing + " fired twice");
        }
    }

    private void unknown(HistoryEvent event) {
        String call = Objects.requireNonNull(event.detail("call"));
        unknownCalls.add(call);
        if (call.equals("resume")) {
            pausedUntil.remove(queue(event));
        } else if (call.equals("settle")) {
            track(event.job()).offered(event);
        } else if (call.equals("checkpoint")) {
            track(event.job()).maybeCheckpointed(event);
        } else if (call.equals("tell")) {
            track(event.job()).eventTold(event, false);
        } else if (event.job() != 0) {
            track(event.job()).uncertain();
            keys.uncertain(track(event.job()));
        } else {
            // The call may have claimed, taken over, expired or pruned any job, and may have created new ones.
            keys.uncertain();
        }
    }
}
