// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.JobContext;
import io.reprise.Reprise;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The cost of runs, and the jobs that retries saved. Obtained from {@link Reprise#costs}. Immutable.
 *
 * @param entries one entry for each type, resource, error that made the run necessary, and unit; first runs have no
 *     error
 * @since 0.1.0
 */
public record Costs(List<CostEntry> entries) {

    /** Copies the list. */
    public Costs {
        entries = List.copyOf(entries);
    }

    /** Returns the costs of one job type. Empty if the type has none. */
    public Costs type(String name) {
        return only(entry -> entry.cause().type().equals(name));
    }

    /** Returns the costs of jobs that name this resource. Empty if there are none. */
    public Costs resource(String name) {
        return only(entry -> name.equals(entry.cause().resource()));
    }

    /**
     * Returns the costs of the retries that followed one error.
     *
     * @param fingerprint fingerprint of the error, see {@link io.reprise.failure.Failure#fingerprint}
     */
    public Costs error(String fingerprint) {
        return only(entry -> entry.cause().error().equals(fingerprint));
    }

    /** Returns the number of first runs that ended, in success or failure. */
    public long jobs() {
        return entries.stream()
                .filter(entry -> entry.cause().isFirst() && isTime(entry))
                .mapToLong(CostEntry::runs)
                .sum();
    }

    /** Returns the number of runs that followed a failure. */
    public long retries() {
        return retries(CostEntry::runs);
    }

    /** Returns the number of jobs that succeeded because they were retried. */
    public long saved() {
        return retries(CostEntry::successes);
    }

    /** Returns the time that handlers spent in retries. */
    public Duration retryTime() {
        return seconds(ofRetries(CostEntry.SECONDS, CostEntry::amount));
    }

    /** Returns the part of {@link #retryTime} that was spent in retries that failed again. */
    public Duration wastedRetryTime() {
        return seconds(ofRetries(CostEntry.SECONDS, CostEntry::wasted));
    }

    /** Returns the cost of retries in one unit, as handlers reported it by {@link JobContext#cost}; 0 if none did. */
    public double retryCost(String unit) {
        return ofRetries(unit, CostEntry::amount);
    }

    /** Returns the part of {@link #retryCost} that was spent in retries that failed again. */
    public double wastedRetryCost(String unit) {
        return ofRetries(unit, CostEntry::wasted);
    }

    /** Returns the cost of all runs in one unit, first runs and retries. */
    public double cost(String unit) {
        return entries.stream()
                .filter(entry -> entry.unit().equals(unit))
                .mapToDouble(CostEntry::amount)
                .sum();
    }

    /** Describes cost and use of retries in one English sentence for a person. */
    public String sentence() {
        return String.format(
                Locale.ROOT,
                "%,d %s took %.1f s, %.1f s of it for nothing, and saved %,d %s.",
                retries(),
                retries() == 1 ? "retry" : "retries",
                retryTime().toMillis() / 1e3,
                wastedRetryTime().toMillis() / 1e3,
                saved(),
                saved() == 1 ? "job" : "jobs");
    }

    private Costs only(Predicate<CostEntry> which) {
        return new Costs(entries.stream().filter(which).toList());
    }

    private long retries(ToLongFunction<CostEntry> what) {
        return entries.stream()
                .filter(entry -> !entry.cause().isFirst() && isTime(entry))
                .mapToLong(what)
                .sum();
    }

    private double ofRetries(String unit, ToDoubleFunction<CostEntry> what) {
        return entries.stream()
                .filter(entry -> !entry.cause().isFirst() && entry.unit().equals(unit))
                .mapToDouble(what)
                .sum();
    }

    private static boolean isTime(CostEntry entry) {
        return entry.unit().equals(CostEntry.SECONDS);
    }

    private static Duration seconds(double value) {
        return Duration.ofNanos(Math.round(value * 1e9));
    }
}
