// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.failure.Failure;
import io.reprise.insight.Activity;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobStatus;
import io.reprise.retry.Decision;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.store.WorkerCounts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts in memory how runs ended and what they cost, until the {@code Reporter} writes the counts to the store.
 * Bounded: errors beyond {@value #MAX_ERRORS} per type and resource count as one error, and rows beyond
 * {@code MAX_ROWS} count as one rest. Thread-safe.
 */
public final class RunTotals {

    static final int MAX_ERRORS = 50;
    private static final int MAX_ROWS = 2_000;

    private record Target(String type, @Nullable String resource) {}

    private record After(ErrorKey cause, int attempt) {}

    private record Priced(ErrorKey cause, String unit) {}

    private record Counted(Activity.Subject subject, String name) {}

    private Map<After, Evidence> evidence = new HashMap<>();
    private Map<Priced, CostEntry> spending = new HashMap<>();
    private Map<Counted, Activity> activity = new HashMap<>();
    private final Map<Target, Set<String>> errors = new HashMap<>();
    private boolean failures = true;

    /** A job of those that succeeded last at their first attempt; null if their number is 0. */
    private @Nullable Job alike;

    /** How many jobs of its type, queue and resource are not yet in the maps: most jobs are like the one before. */
    private int alikeRuns;

    private long alikeNanos;

    /** Counts an accepted settlement and the cost that the handler reported. */
    public synchronized void settled(Job job, Settlement settlement, Map<String, Double> costs) {
        if (isPlain(job, settlement) && costs.isEmpty()) {
            succeeded(job, settlement.ran().toNanos());
            return;
        }
        boolean succeeded = settlement.next() instanceof Settlement.Succeed;
        boolean counted = settlement.spent() == CountedAs.ATTEMPT && !(settlement.next() instanceof Settlement.Cancel);
        boolean first = counted && job.counts().attempts() == 0;
        boolean retry = settlement.decision() instanceof Decision.Retry;
        failures |= counted && !succeeded;
        if (counted) {
            ErrorKey cause = cause(job);
            if (!cause.isFirst()) {
                add(new Evidence(
                        cause, Math.min(job.counts().attempts(), Evidence.LAST_ATTEMPT), 1, succeeded ? 1 : 0));
            }
            spend(cause, CostEntry.SECONDS, succeeded, settlement.ran().toNanos() / 1e9);
            costs.forEach((unit, amount) -> spend(cause, unit, succeeded, amount));
        } else if (isForNothing(settlement)) {
            ErrorKey cause = cause(job, settlement);
            spend(cause, CostEntry.SECONDS, false, settlement.ran().toNanos() / 1e9);
            costs.forEach((unit, amount) -> spend(cause, unit, false, amount));
        }
        boolean dead = settlement.next() instanceof Settlement.Fail;
        if (counted || retry || dead) {
            Failure failure = settlement.failure();
            add(
                    job,
                    failure == null ? null : failure.fingerprint(),
                    new Activity.Counts(
                            first ? 1 : 0,
                            counted && succeeded ? 1 : 0,
                            counted && !succeeded ? 1 : 0,
                            first && retry ? 1 : 0,
                            retry ? 1 : 0,
                            dead ? 1 : 0,
                            settlement.decision() instanceof Decision.Retry again ? again.delay() : Duration.ZERO,
                            counted ? settlement.ran() : Duration.ZERO));
        }
    }

    /** Counts the first start of a job in a queue with a service level. */
    public synchronized void started(Job job, Instant at, Duration within) {
        JobCounts counts = job.counts();
        if (counts.attempts() + counts.losses() + counts.interruptions() + counts.snoozes() > 0) {
            return;
        }
        boolean late = Duration.between(job.times().firstDueAt(), at).compareTo(within) > 0;
        Activity.Counts one = new Activity.Counts(1, late ? 0 : 1, late ? 1 : 0, 0, 0, 0, Duration.ZERO, Duration.ZERO);
        add(new Activity(Activity.Subject.START, job.queue(), one));
        String group = job.spec().group();
        if (group != null) {
            add(new Activity(Activity.Subject.GROUP_START, Activity.groupOf(job.queue(), group), one));
        }
    }

    /** Whether the job succeeded at its first attempt. */
    private static boolean isPlain(Job job, Settlement settlement) {
        return settlement.next() instanceof Settlement.Succeed
                && settlement.spent() == CountedAs.ATTEMPT
                && job.counts().attempts() == 0
                && settlement.decision() == null
                && settlement.failure() == null;
    }

    private void succeeded(Job job, long nanos) {
        if (alike == null || !isAlike(alike, job) || alikeNanos + nanos < 0) {
            addAlike();
            alike = job;
        }
        alikeRuns++;
        alikeNanos += nanos;
    }

    private static boolean isAlike(Job one, Job other) {
        return one.type().equals(other.type())
                && one.queue().equals(other.queue())
                && Objects.equals(one.spec().resource(), other.spec().resource());
    }

    private void addAlike() {
        if (alike != null) {
            ErrorKey cause = ErrorKey.first(alike.type(), ErrorKey.resource(alike));
            add(new CostEntry(cause, CostEntry.SECONDS, alikeRuns, alikeRuns, alikeNanos / 1e9, 0));
            Duration ran = Duration.ofNanos(alikeNanos);
            add(alike, null, new Activity.Counts(alikeRuns, alikeRuns, 0, 0, 0, 0, Duration.ZERO, ran));
        }
        alike = null;
        alikeRuns = 0;
        alikeNanos = 0;
    }

    /** Counts under each subject that the attempt has. */
    private void add(Job job, @Nullable String error, Activity.Counts counts) {
        add(new Activity(Activity.Subject.TYPE, job.type(), counts));
        add(new Activity(Activity.Subject.QUEUE, job.queue(), counts));
        String resource = ErrorKey.resource(job);
        if (resource != null) {
            add(new Activity(Activity.Subject.RESOURCE, resource, counts));
        }
        if (error != null) {
            add(new Activity(Activity.Subject.ERROR, error, counts));
        }
    }

    /** Whether a run that did not count must be repeated: it was lost, interrupted, or failed as a probe. */
    private static boolean isForNothing(Settlement settlement) {
        return switch (settlement.spent()) {
            case LOSS, INTERRUPTION -> true;
            case SNOOZE -> settlement.failure() != null && !settlement.ran().isZero();
            case ATTEMPT, NOTHING -> false;
        };
    }

    /** Counts a job that became a dead letter while it waited. */
    public synchronized void expired(Job job) {
        JobStatus.LastError error = job.status().lastError();
        add(
                job,
                error == null ? null : error.fingerprint(),
                new Activity.Counts(0, 0, 0, 0, 0, 1, Duration.ZERO, Duration.ZERO));
    }

    public synchronized WorkerCounts take() {
        addAlike();
        WorkerCounts workerCounts = new WorkerCounts(
                List.copyOf(evidence.values()), List.copyOf(spending.values()), List.copyOf(activity.values()));
        evidence = new HashMap<>();
        spending = new HashMap<>();
        activity = new HashMap<>();
        return workerCounts;
    }

    /** Adds counts again that could not be written. */
    public synchronized void putBack(WorkerCounts workerCounts) {
        workerCounts.evidence().forEach(this::add);
        workerCounts.spending().forEach(this::add);
        workerCounts.activity().forEach(this::add);
    }

    /** Whether a run has failed since the last call, so that fresh evidence is useful. */
    public synchronized boolean sawFailures() {
        boolean seen = failures;
        failures = false;
        return seen;
    }

    /** Learns which errors the fleet already counts separately. */
    public synchronized void known(List<Evidence> stored) {
        errors.clear();
        List<ErrorKey> causes = new ArrayList<>();
        stored.forEach(each -> causes.add(each.cause()));
        evidence.keySet().forEach(each -> causes.add(each.cause()));
        causes.forEach(
                cause -> errors.computeIfAbsent(new Target(cause.type(), cause.resource()), target -> new HashSet<>())
                        .add(cause.error()));
    }

    private ErrorKey cause(Job job) {
        JobStatus.LastError error = job.status().lastError();
        return job.counts().attempts() == 0 || error == null
                ? ErrorKey.first(job.type(), ErrorKey.resource(job))
                : cause(job, error.fingerprint(), error.type());
    }

    /**
     * Returns the cause that makes a repeated run necessary. All losses count as one error, whichever worker was lost.
     */
    private ErrorKey cause(Job job, Settlement settlement) {
        Failure failure = settlement.failure();
        if (settlement.spent() == CountedAs.SNOOZE && failure != null) {
            return cause(job, failure.fingerprint(), failure.type());
        }
        String name = settlement.spent() == CountedAs.LOSS ? "LeaseExpired" : "Interrupted";
        return cause(job, name, name);
    }

    private ErrorKey cause(Job job, String fingerprint, String error) {
        String resource = ErrorKey.resource(job);
        if (errors.size() >= MAX_ROWS && !errors.containsKey(new Target(job.type(), resource))) {
            return ErrorKey.otherError(job.type(), resource);
        }
        Set<String> known = errors.computeIfAbsent(new Target(job.type(), resource), target -> new HashSet<>());
        return known.contains(fingerprint) || (known.size() < MAX_ERRORS && known.add(fingerprint))
                ? new ErrorKey(job.type(), resource, fingerprint, error)
                : ErrorKey.otherError(job.type(), resource);
    }

    private void spend(ErrorKey cause, String unit, boolean succeeded, double amount) {
        add(new CostEntry(cause, unit, 1, succeeded ? 1 : 0, amount, succeeded ? 0 : amount));
    }

    private void add(Evidence more) {
        After key = new After(more.cause(), more.attempt());
        boolean full = evidence.size() >= MAX_ROWS && !evidence.containsKey(key);
        After at = full ? new After(ErrorKey.REST, Evidence.LAST_ATTEMPT) : key;
        Evidence row = new Evidence(at.cause, at.attempt, more.tries(), more.successes());
        evidence.merge(at, row, Evidence::plus);
    }

    private void add(CostEntry more) {
        Priced key = new Priced(more.cause(), more.unit());
        boolean full = spending.size() >= MAX_ROWS && !spending.containsKey(key);
        Priced at = full ? new Priced(ErrorKey.REST, more.unit()) : key;
        spending.merge(at, more.of(at.cause), CostEntry::plus);
    }

    private void add(Activity more) {
        Counted key = new Counted(more.subject(), more.name());
        boolean full = activity.size() >= MAX_ROWS && !activity.containsKey(key);
        Counted at = full ? new Counted(more.subject(), Activity.REST) : key;
        activity.merge(at, more.of(at.name), Activity::plus);
    }
}
