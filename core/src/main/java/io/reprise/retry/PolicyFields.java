// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a {@link RetryPolicy}. Null or {@link Limit.Unset} means not set.
 *
 * <p>The object changes only while a policy is made from it. The setters check single values, so JSON and code obey the
 * same limits.
 */
final class PolicyFields {

    /** The curve. It is kept apart from its numbers, so that a layer can set one without the other. */
    enum Kind {
        EXPONENTIAL,
        LINEAR,
        FIXED,
        TABLE
    }

    static final int MAX_RULES = 1000;

    @Nullable
    Kind kind;

    List<Duration> delays = List.of();

    @Nullable
    Duration base;

    @Nullable
    Double factor;

    @Nullable
    Integer offset;

    Limit<Duration> cap = Limit.unset();

    @Nullable
    Duration minDelay;

    @Nullable
    Jitter jitter;

    @Nullable
    CapOrder capOrder;

    @Nullable
    Rounding rounding;

    Limit<Integer> maxAttempts = Limit.unset();
    Limit<Duration> deadline = Limit.unset();

    @Nullable
    Duration retryAfterCap;

    @Nullable
    Boolean retryTimeouts;

    @Nullable
    FailureClass unclassified;

    List<Rule> rules = List.of();
    boolean rulesOnly;

    @Nullable
    LossRule losses;

    Limit<GiveUp> giveUpBelow = Limit.unset();

    List<Branch> branches = List.of();

    PolicyFields copy() {
        return new PolicyFields().fill(this);
    }

    /** Takes each field that is not set here from {@code lower}. */
    PolicyFields fill(PolicyFields lower) {
        if (kind == null) {
            // The delays of a table belong to the kind TABLE. They mean nothing beside another kind.
            kind = lower.kind;
            delays = lower.delays;
        }
        base = first(base, lower.base);
        factor = first(factor, lower.factor);
        offset = first(offset, lower.offset);
        cap = cap.orElse(lower.cap);
        minDelay = first(minDelay, lower.minDelay);
        jitter = first(jitter, lower.jitter);
        capOrder = first(capOrder, lower.capOrder);
        rounding = first(rounding, lower.rounding);
        maxAttempts = maxAttempts.orElse(lower.maxAttempts);
        deadline = deadline.orElse(lower.deadline);
        retryAfterCap = first(retryAfterCap, lower.retryAfterCap);
        retryTimeouts = first(retryTimeouts, lower.retryTimeouts);
        unclassified = first(unclassified, lower.unclassified);
        if (!rulesOnly) {
            rules = joined(rules, lower.rules);
            rulesOnly = lower.rulesOnly;
        }
        losses = first(losses, lower.losses);
        giveUpBelow = giveUpBelow.orElse(lower.giveUpBelow);
        branches = joined(branches, lower.branches);
        return this;
    }

    void backoff(Backoff backoff) {
        delays = List.of();
        if (backoff instanceof Backoff.Exponential exponential) {
            kind = Kind.EXPONENTIAL;
            base = exponential.base();
            factor = exponential.factor();
            offset = exponential.offset();
        } else if (backoff instanceof Backoff.Linear linear) {
            kind = Kind.LINEAR;
            base = linear.step();
        } else if (backoff instanceof Backoff.Fixed fixed) {
            kind = Kind.FIXED;
            base = fixed.delay();
        } else if (backoff instanceof Backoff.Table table) {
            kind = Kind.TABLE;
            delays = table.delays();
        }
    }

    /** The curve; null unless this layer has all its numbers. */
    @Nullable
    Backoff backoff() {
        if (kind == Kind.TABLE) {
            return new Backoff.Table(delays);
        }
        if (kind == null || base == null) {
            return null;
        }
        if (kind == Kind.LINEAR) {
            return new Backoff.Linear(base);
        }
        if (kind == Kind.FIXED) {
            return new Backoff.Fixed(base);
        }
        return factor == null || offset == null ? null : new Backoff.Exponential(base, factor, offset);
    }

    /** Whether each delay is written out, so that no curve can grow. */
    boolean writesDelaysOut() {
        return kind == Kind.TABLE || kind == Kind.FIXED;
    }

    void base(Duration value) {
        base = Bounds.notNegative("base", value);
    }

    void factor(double value) {
        factor = Bounds.number("factor", value, 1, 1000);
    }

    void offset(int value) {
        offset = Bounds.integer("offset", value, 0, 1);
    }

    void cap(Duration value) {
        cap = Limit.of(Bounds.positive("cap", value));
    }

    void minDelay(Duration value) {
        minDelay = Bounds.notNegative("minDelay", value);
    }

    void maxAttempts(int value) {
        maxAttempts = Limit.of(Bounds.integer("maxAttempts", value, 1, Bounds.MAX_ATTEMPTS));
    }

    void deadline(Duration value) {
        deadline = Limit.of(Bounds.positive("deadline", value));
    }

    void retryAfterCap(Duration value) {
        retryAfterCap = Bounds.notNegative("retryAfterCap", value);
    }

    void unclassified(FailureClass value) {
        if (value != FailureClass.TRANSIENT && value != FailureClass.PERMANENT) {
            throw Bounds.refused("unclassified", value, "TRANSIENT or PERMANENT");
        }
        unclassified = value;
    }

    void rules(List<Rule> value) {
        Bounds.integer("number of rules", value.size(), 0, MAX_RULES);
        rules = List.copyOf(value);
    }

    void branches(List<Branch> value) {
        Bounds.integer("number of branches", value.size(), 0, Branch.MAX_BRANCHES);
        branches = List.copyOf(value);
    }

    /**
     * Refuses a contradiction within one layer that this change made. A contradiction that layers made before is not
     * the fault of this caller.
     *
     * <p>Only policies built in code are checked. Layers that are correct by themselves can contradict each other when
     * they are combined, at a time when nobody reads an error, and a stored combination must stay readable. So the
     * arithmetic gives every combination a meaning (the cap wins), and {@link RetryPlan#warnings} names the odd ones.
     */
    void requireConsistent(PolicyFields before) {
        IllegalArgumentException found = contradiction();
        if (found != null && before.contradiction() == null) {
            throw found;
        }
    }

    private @Nullable IllegalArgumentException contradiction() {
        Duration longest = cap.toOptional().orElse(Bounds.MAX_DURATION);
        if (minDelay != null && minDelay.compareTo(longest) > 0) {
            return Bounds.refused("minDelay", minDelay, "at most the cap, " + longest);
        }
        if (kind == Kind.TABLE && (jitter instanceof Jitter.Decorrelated || jitter instanceof Jitter.BaseToRaw)) {
            return Bounds.refused("jitter", jitter.text(), "used with a backoff that has a base, not with a table");
        }
        return null;
    }

    private List<Object> values() {
        return Arrays.asList(
                kind,
                delays,
                base,
                factor,
                offset,
                cap,
                minDelay,
                jitter,
                capOrder,
                rounding,
                maxAttempts,
                deadline,
                retryAfterCap,
                retryTimeouts,
                unclassified,
                rules,
                rulesOnly,
                losses,
                giveUpBelow,
                branches);
    }

    private static <T> @Nullable T first(@Nullable T upper, @Nullable T lower) {
        return upper != null ? upper : lower;
    }

    private static <T> List<T> joined(List<T> upper, List<T> lower) {
        if (upper.isEmpty()) {
            return lower;
        }
        List<T> all = new ArrayList<>(upper);
        all.addAll(lower);
        return List.copyOf(all);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PolicyFields fields && values().equals(fields.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }
}
