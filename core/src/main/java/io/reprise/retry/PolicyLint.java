// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.retry.RetryPlan.Step;
import io.reprise.retry.RetryPlan.Warning;
import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Finds settings of a policy that are legal but probably not intended. The codes are stable; see docs/retries.md. */
final class PolicyLint {

    /** An unlimited policy is examined up to this retry. */
    private static final int HORIZON = 1000;

    private static final Duration LONG = Duration.ofDays(1);
    private static final int FEW_SAMPLES = 20;
    private static final double EVEN = 0.5;

    private final RetryPolicy policy;
    private final RetryPolicy complete;
    private final int retries;
    private final List<Step> steps;
    private final List<Warning> warnings = new ArrayList<>();

    private PolicyLint(RetryPolicy policy, int asked) {
        this.policy = policy;
        this.complete = policy.complete();
        this.retries = complete.maxAttempts().toOptional().map(max -> max - 1).orElse(HORIZON);
        this.steps = RetryPlan.steps(complete, Math.max(Math.min(retries, HORIZON), asked));
    }

    /** Examines the retries that the policy allows, and those that the caller asked for beyond them. */
    static List<Warning> of(RetryPolicy policy, int asked) {
        PolicyLint lint = new PolicyLint(policy, asked);
        lint.limits();
        if (!lint.steps.isEmpty()) {
            lint.delays();
            lint.cap();
        }
        BranchLint.check(policy.complete(), lint.warnings::add);
        return List.copyOf(lint.warnings);
    }

    private void limits() {
        boolean unlimited = complete.maxAttempts().isNone();
        if (unlimited && complete.deadline().isNone()) {
            warn(
                    "unlimited-without-deadline",
                    "Neither attempts nor time are limited: a job that cannot succeed is retried forever.");
        }
        if (retries == 0 && policy.setsBackoff()) {
            warn("single-attempt-with-backoff", "maxAttempts is 1, so the backoff is never used.");
        }
        complete.giveUpBelow().toOptional().ifPresent(this::giveUp);
        Duration worst = worstCase();
        complete.deadline()
                .toOptional()
                .filter(deadline -> !unlimited && worst.compareTo(deadline) >= 0)
                .ifPresent(deadline -> warn(
                        "deadline-before-worst-case",
                        "The retries can take " + worst + " but the deadline is " + deadline
                                + ", so the last ones may never run."));
    }

    private void giveUp(GiveUp rule) {
        if (rule.minSamples() < FEW_SAMPLES) {
            warn(
                    "give-up-on-few-samples",
                    "giveUpBelow needs only " + rule.minSamples() + " tries: by bad luck alone, jobs that a retry would"
                            + " have saved are failed.");
        }
        if (rule.probability() > EVEN) {
            warn(
                    "give-up-on-likely-success",
                    "giveUpBelow fails jobs although up to " + Math.round(100 * rule.probability())
                            + " % of their retries succeed.");
        }
    }

    private Duration worstCase() {
        int last = Math.min(retries, steps.size());
        return last == 0 ? Duration.ZERO : steps.get(last - 1).cumulativeMax();
    }

    private void delays() {
        Jitter jitter = complete.jitter().orElseThrow();
        Backoff backoff = complete.backoff().orElseThrow();
        if (steps.stream().anyMatch(step -> step.max().isZero())) {
            warn("zero-delay", "Some retries come at once, without any delay.");
        } else if (jitter instanceof Jitter.None) {
            warn("no-jitter", "Jobs that fail together come back together; full jitter spreads them.");
        }
        if (jitter instanceof Jitter.Decorrelated && !(backoff instanceof Backoff.Exponential)) {
            warn(
                    "backoff-unused",
                    "Decorrelated jitter grows from the previous delay; only the base of the backoff is used.");
        }
        if (backoff instanceof Backoff.Table table && table.delays().size() > steps.size() && !isPreset()) {
            warn(
                    "table-longer-than-attempts",
                    "The table has " + table.delays().size() + " delays but at most " + steps.size() + " are used.");
        }
    }

    /** The table of a preset is what the other system documents, whatever the number of its attempts. */
    private boolean isPreset() {
        return Presets.names().stream().map(Presets::get).anyMatch(policy::equals);
    }

    private void cap() {
        DelayModel model = complete.model();
        Step last = steps.get(steps.size() - 1);
        Backoff backoff = complete.backoff().orElseThrow();
        boolean writtenOut = backoff instanceof Backoff.Table || backoff instanceof Backoff.Fixed;
        if (complete.cap().isNone() && !writtenOut && last.max().compareTo(LONG) > 0) {
            warn("no-cap", "Without a cap, delays grow to " + last.max() + ".");
        }
        Duration cap = Duration.ofNanos(model.cap());
        if (Duration.ofNanos(model.base()).compareTo(cap) > 0) {
            warn("cap-below-base", "The cap " + cap + " is below the first delay, so every delay is held at the cap.");
        }
        if (backoff instanceof Backoff.Table table
                && table.delays().stream().anyMatch(delay -> delay.compareTo(cap) > 0)
                && model.base() <= model.cap()) {
            warn("table-above-cap", "The cap " + cap + " cuts longer delays of the table.");
        }
        if (complete.minDelay().orElseThrow().compareTo(cap) > 0) {
            warn("min-delay-above-cap", "minDelay is above the cap " + cap + "; the cap wins.");
        }
        if (steps.stream().anyMatch(step -> step.max().compareTo(cap) > 0)) {
            warn("jitter-above-cap", "Jitter is added after the cap " + cap + ", so delays reach " + last.max() + ".");
        }
        constantAtCap(model);
    }

    private void constantAtCap(DelayModel model) {
        if (complete.capOrder().orElseThrow() != CapOrder.JITTER_THEN_CAP
                || complete.jitter().orElseThrow() instanceof Jitter.None) {
            return;
        }
        for (Step step : steps) {
            DelayRange range = model.range(step.retry(), Bounds.nanos(step.max()));
            if (range.min() >= model.cap()) {
                warn(
                        "constant-at-cap",
                        "From retry " + step.retry() + " on, the cap cuts the jitter away and every delay is exactly "
                                + step.max() + ".");
                return;
            }
        }
    }

    private void warn(String code, String message) {
        warnings.add(new Warning(code, message));
    }
}
