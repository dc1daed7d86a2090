// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.store.Spending;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * What runs cost, and what retries saved.
 *
 * @param entries by type, resource, the error that made the run necessary, and unit; first runs have no error
 */
public record Costs(List<Spending> entries) {

    public Costs {
        entries = List.copyOf(entries);
    }

    public Costs type(String name) {
        return only(entry -> entry.cause().type().equals(name));
    }

    public Costs resource(String name) {
        return only(entry -> name.equals(entry.cause().resource()));
    }

    /** What one error cost, by its fingerprint. */
    public Costs error(String fingerprint) {
        return only(entry -> entry.cause().error().equals(fingerprint));
    }

    /** First runs that ended, well or not. */
    public long jobs() {
        return entries.stream()
                .filter(entry -> entry.cause().isFirst() && isTime(entry))
                .mapToLong(Spending::runs)
                .sum();
    }

    /** Runs that followed a failure. */
    public long retries() {
        return retries(Spending::runs);
    }

    /** Jobs that succeeded because they were retried. */
    public long saved() {
        return retries(Spending::successes);
    }

    /** Time that retries took. */
    public Duration retryTime() {
        return seconds(ofRetries(Spending.SECONDS, Spending::amount));
    }

    /** The part of {@link #retryTime} that led to nothing but another failure. */
    public Duration wastedRetryTime() {
        return seconds(ofRetries(Spending.SECONDS, Spending::wasted));
    }

    /** What retries cost in a unit that handlers report in. */
    public double retryCost(String unit) {
        return ofRetries(unit, Spending::amount);
    }

    /** The part of {@link #retryCost} that led to nothing but another failure. */
    public double wastedRetryCost(String unit) {
        return ofRetries(unit, Spending::wasted);
    }

    /** What all runs cost in a unit, first ones and retries. */
    public double cost(String unit) {
        return entries.stream()
                .filter(entry -> entry.unit().equals(unit))
                .mapToDouble(Spending::amount)
                .sum();
    }

    /** The answer in one sentence: what did retries cost, what did they save. */
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

    private Costs only(Predicate<Spending> which) {
        return new Costs(entries.stream().filter(which).toList());
    }

    private long retries(ToLongFunction<Spending> what) {
        return entries.stream()
                .filter(entry -> !entry.cause().isFirst() && isTime(entry))
                .mapToLong(what)
                .sum();
    }

    private double ofRetries(String unit, ToDoubleFunction<Spending> what) {
        return entries.stream()
                .filter(entry -> !entry.cause().isFirst() && entry.unit().equals(unit))
                .mapToDouble(what)
                .sum();
    }

    private static boolean isTime(Spending entry) {
        return entry.unit().equals(Spending.SECONDS);
    }

    private static Duration seconds(double value) {
        return Duration.ofNanos(Math.round(value * 1e9));
    }
}
