// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobStatus;
import io.reprise.retry.Decision;
import io.reprise.retry.Failure;
import io.reprise.store.Activity;
import io.reprise.store.Cause;
import io.reprise.store.Evidence;
import io.reprise.store.Findings;
import io.reprise.store.Settlement;
import io.reprise.store.Spending;
import io.reprise.store.Spent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Counts in memory how runs ended and what they cost, until the {@code Reporter} writes the counts to the store.
 * Bounded: errors beyond {@value #MAX_ERRORS} per type and resource count as one error, and rows beyond
 * {@code MAX_ROWS} count as one rest. Thread-safe.
 */
final class Tallies {

    static final int MAX_ERRORS = 50;
    private static final int MAX_ROWS = 2_000;

    private record Target(String type, @Nullable String resource) {}

    private record After(Cause cause, int attempt) {}

    private record Priced(Cause cause, String unit) {}

    private Map<After, Evidence> evidence = new HashMap<>();
    private Map<Priced, Spending> spending = new HashMap<>();
    private Map<String, Activity> activity = new HashMap<>();
    private final Map<Target, Set<String>> errors = new HashMap<>();
    private boolean failures = true;

    /** Counts an accepted settlement and the cost that the handler reported. */
    synchronized void settled(Job job, Settlement settlement, Map<String, Double> costs) {
        boolean succeeded = settlement.next() instanceof Settlement.Succeed;
        boolean counted = settlement.spent() == Spent.ATTEMPT && !(settlement.next() instanceof Settlement.Cancel);
        boolean first = counted && job.attempts() == 0;
        boolean retry = settlement.decision() instanceof Decision.Retry;
        failures |= counted && !succeeded;
        if (counted) {
            Cause cause = cause(job);
            if (!cause.isFirst()) {
                add(new Evidence(cause, Math.min(job.attempts(), Evidence.LAST_ATTEMPT), 1, succeeded ? 1 : 0));
            }
            spend(cause, Spending.SECONDS, succeeded, settlement.ran().toNanos() / 1e9);
            costs.forEach((unit, amount) -> spend(cause, unit, succeeded, amount));
        } else if (isForNothing(settlement)) {
            Cause cause = cause(job, settlement);
            spend(cause, Spending.SECONDS, false, settlement.ran().toNanos() / 1e9);
            costs.forEach((unit, amount) -> spend(cause, unit, false, amount));
        }
        if (first || retry || settlement.next() instanceof Settlement.Fail) {
            Duration backoff = settlement.decision() instanceof Decision.Retry again ? again.delay() : Duration.ZERO;
            long dead = settlement.next() instanceof Settlement.Fail ? 1 : 0;
            add(new Activity(job.type(), first ? 1 : 0, first && retry ? 1 : 0, retry ? 1 : 0, dead, backoff));
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
    synchronized void expired(Job job) {
        add(new Activity(job.type(), 0, 0, 0, 1, Duration.ZERO));
    }

    synchronized Findings take() {
        Findings findings = new Findings(
                List.copyOf(evidence.values()), List.copyOf(spending.values()), List.copyOf(activity.values()));
        evidence = new HashMap<>();
        spending = new HashMap<>();
        activity = new HashMap<>();
        return findings;
    }

    /** Adds counts again that could not be written. */
    synchronized void putBack(Findings findings) {
        findings.evidence().forEach(this::add);
        findings.spending().forEach(this::add);
        findings.activity().forEach(this::add);
    }

    /** Whether a run has failed since the last call, so that fresh evidence is useful. */
    synchronized boolean sawFailures() {
        boolean seen = failures;
        failures = false;
        return seen;
    }

    /** Learns which errors the fleet already counts separately. */
    synchronized void known(List<Evidence> stored) {
        errors.clear();
        List<Cause> causes = new ArrayList<>();
        stored.forEach(each -> causes.add(each.cause()));
        evidence.keySet().forEach(each -> causes.add(each.cause()));
        causes.forEach(
                cause -> errors.computeIfAbsent(new Target(cause.type(), cause.resource()), target -> new HashSet<>())
                        .add(cause.error()));
    }

    private Cause cause(Job job) {
        JobStatus.LastError error = job.status().lastError();
        return job.attempts() == 0 || error == null
                ? Cause.first(job.type(), Cause.resource(job))
                : cause(job, error.fingerprint(), error.type());
    }

    /**
     * Returns the cause that makes a repeated run necessary. All losses count as one error, whichever worker was lost.
     */
    private Cause cause(Job job, Settlement settlement) {
        Failure failure = settlement.failure();
        if (settlement.spent() == Spent.SNOOZE && failure != null) {
            return cause(job, failure.fingerprint(), failure.type());
        }
        String name = settlement.spent() == Spent.LOSS ? "LeaseExpired" : "Interrupted";
        return cause(job, name, name);
    }

    private Cause cause(Job job, String fingerprint, String error) {
        String resource = Cause.resource(job);
        if (errors.size() >= MAX_ROWS && !errors.containsKey(new Target(job.type(), resource))) {
            return Cause.otherError(job.type(), resource);
        }
        Set<String> known = errors.computeIfAbsent(new Target(job.type(), resource), target -> new HashSet<>());
        return known.contains(fingerprint) || (known.size() < MAX_ERRORS && known.add(fingerprint))
                ? new Cause(job.type(), resource, fingerprint, error)
                : Cause.otherError(job.type(), resource);
    }

    private void spend(Cause cause, String unit, boolean succeeded, double amount) {
        add(new Spending(cause, unit, 1, succeeded ? 1 : 0, amount, succeeded ? 0 : amount));
    }

    private void add(Evidence more) {
        After key = new After(more.cause(), more.attempt());
        boolean full = evidence.size() >= MAX_ROWS && !evidence.containsKey(key);
        After at = full ? new After(Cause.REST, Evidence.LAST_ATTEMPT) : key;
        Evidence row = new Evidence(at.cause, at.attempt, more.tries(), more.successes());
        evidence.merge(at, row, Evidence::plus);
    }

    private void add(Spending more) {
        Priced key = new Priced(more.cause(), more.unit());
        boolean full = spending.size() >= MAX_ROWS && !spending.containsKey(key);
        Priced at = full ? new Priced(Cause.REST, more.unit()) : key;
        spending.merge(at, more.of(at.cause), Spending::plus);
    }

    private void add(Activity more) {
        boolean full = activity.size() >= MAX_ROWS && !activity.containsKey(more.type());
        String type = full ? Activity.REST : more.type();
        activity.merge(type, more.of(type), Activity::plus);
    }
}
