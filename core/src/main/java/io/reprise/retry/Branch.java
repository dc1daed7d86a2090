// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.Classification;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.text.Bounds;
import io.reprise.text.Truncation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The part of a policy that answers certain failures in its own way: with another curve, another number of attempts, or
 * never. {@link RetryPolicy#on(FailureClass...)} and its siblings make branches; the first branch that matches a
 * failure decides.
 *
 * <p>A branch for types, codes, statuses or messages also retries failures that a rule calls PERMANENT, unless it is
 * {@code never}. It does not overrule a handler that gave the class itself, nor
 * {@link io.reprise.failure.NonRetryable}. Immutable and thread-safe. Branches with equal values are equal.
 *
 * @since 0.1.0
 */
public final class Branch {

    static final int MAX_BRANCHES = 100;

    /** Name of the rule that holds the items of a branch. It is not shown. */
    static final String ITEMS = "branch";

    private static final int MAX_NAME = 200;

    /** Classes that a branch can be for. The engine decides about the others by itself. */
    static final Set<FailureClass> RETRIED =
            Set.of(FailureClass.TRANSIENT, FailureClass.THROTTLED, FailureClass.DEPENDENCY_DOWN, FailureClass.TIMEOUT);

    private final Values values;

    /** The classes or items that the branch matches, then its settings. Unset fields are those of the policy. */
    record Values(
            List<FailureClass> classes,
            @Nullable Rule items,
            RetryPolicy retry,
            @Nullable Double deadlineShare,
            boolean counts,
            boolean never) {}

    Branch(Values values) {
        this.values = values;
    }

    static Branch ofClasses(List<FailureClass> classes) {
        Bounds.integer("number of classes of a branch", classes.size(), 1, RETRIED.size());
        for (FailureClass each : classes) {
            if (!RETRIED.contains(each)) {
                throw Bounds.refused(
                        "class of a branch", each, "one of TRANSIENT, THROTTLED, DEPENDENCY_DOWN, TIMEOUT");
            }
        }
        return new Branch(new Values(List.copyOf(classes), null, RetryPolicy.unset(), null, true, false));
    }

    /** Creates a branch for the items of a rule. The class of the rule does not matter. */
    static Branch ofItems(Rule items) {
        return new Branch(new Values(List.of(), items, RetryPolicy.unset(), null, true, false));
    }

    Values values() {
        return values;
    }

    /** Returns the name, made of what the branch matches. It is kept with each attempt that the branch decides. */
    public String name() {
        List<String> words = new ArrayList<>();
        values.classes.forEach(each -> words.add(each.name()));
        Rule items = values.items;
        if (items != null) {
            words.addAll(items.types());
            items.codes().forEach(code -> words.add("code " + code));
            items.statuses().forEach(status -> words.add("status " + status));
            items.messages().forEach(message -> words.add("message " + message));
        }
        return Truncation.cut("on " + String.join(", ", words), MAX_NAME);
    }

    /** Returns the classes that the branch is for; empty if it is for types, codes, statuses or messages. */
    public List<FailureClass> classes() {
        return values.classes;
    }

    /** Returns the fields that differ from the policy: curve, cap, jitter, attempts. */
    public RetryPolicy retry() {
        return values.retry;
    }

    /** Returns the part of the deadline after which the branch retries no more; null for all of it. */
    public @Nullable Double deadlineShare() {
        return values.deadlineShare;
    }

    /** Returns whether a failure of this branch spends an attempt. */
    public boolean counts() {
        return values.counts;
    }

    /** Returns whether failures of this branch are never retried. */
    public boolean isNever() {
        return values.never;
    }

    boolean matches(Failure failure, Classification found) {
        return values.items == null ? values.classes.contains(found.failureClass()) : values.items.matches(failure);
    }

    /** Returns the complete policy that decides about failures of this branch. */
    RetryPolicy over(RetryPolicy policy) {
        RetryPolicy own = values.retry;
        // A cap of the policy is for its own curve. It does not cut a delay that this branch writes out.
        RetryPolicy retry = own.writesDelaysOut() && !own.cap().isSet() ? own.noCap() : own;
        RetryPolicy all = retry.orElse(policy).complete();
        Double share = values.deadlineShare;
        return share == null
                ? all
                : all.deadline()
                        .toOptional()
                        .map(deadline -> all.deadline(part(deadline, share)))
                        .orElse(all);
    }

    /** Returns the branch with at most this many attempts, if it sets a number. */
    Branch within(@Nullable Integer attempts) {
        RetryPolicy own = values.retry;
        return own.maxAttempts().isSet() && attempts != null
                ? new Branch(new Values(
                        values.classes,
                        values.items,
                        own.within(attempts, null),
                        values.deadlineShare,
                        values.counts,
                        values.never))
                : this;
    }

    private static Duration part(Duration deadline, double share) {
        return Duration.ofNanos(Math.max(1, Math.round(Bounds.nanos(deadline) * share)));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Branch branch && values.equals(branch.values);
    }

    @Override
    public int hashCode() {
        return Objects.hash(values);
    }

    @Override
    public String toString() {
        return name();
    }

    /**
     * A policy with a branch that is being described. {@link #policy} ends it; another {@code on…} ends it and begins the
     * next.
     *
     * <pre>{@code
     * RetryPolicy.exponential(Duration.ofSeconds(1))
     *         .on(FailureClass.THROTTLED).fixed(Duration.ofMinutes(1)).unlimited()
     *         .onStatus(502, 503).exponential(Duration.ofSeconds(5)).cap(Duration.ofMinutes(2))
     *         .onCode("card_declined").never()
     *         .policy();
     * }</pre>
     *
     * <p>Immutable and thread-safe: each method returns a new object. A bad value is refused at once.
     */
    public static final class Builder {

        private final RetryPolicy policy;
        private final Branch branch;

        Builder(RetryPolicy policy, Branch branch) {
            this.policy = policy;
            this.branch = branch;
        }

        /** Returns the policy with this branch after the branches that it had. */
        public RetryPolicy policy() {
            return policy.withBranch(branch);
        }

        /**
         * Sets one delay for all retries of this branch. The cap of the policy does not cut it.
         *
         * @param delay 0 to 36,500 days
         * @throws IllegalArgumentException if {@code delay} is out of its bounds
         */
        public Builder fixed(Duration delay) {
            return with(retry -> retry.backoff(new Backoff.Fixed(delay)));
        }

        /**
         * Sets exponential delays from {@code base}. Factor, offset and cap are those of the policy unless set.
         *
         * @param base 0 to 36,500 days
         * @throws IllegalArgumentException if {@code base} is out of its bounds
         */
        public Builder exponential(Duration base) {
            return with(retry -> RetryPolicy.exponential(base).orElse(retry));
        }

        /**
         * Sets any curve.
         *
         * @throws IllegalArgumentException if the curve does not fit the jitter of this branch
         */
        public Builder backoff(Backoff backoff) {
            return with(retry -> retry.backoff(backoff));
        }

        /**
         * Sets the longest delay of this branch.
         *
         * @param cap more than 0, up to 36,500 days
         * @throws IllegalArgumentException if {@code cap} is out of its bounds
         */
        public Builder cap(Duration cap) {
            return with(retry -> retry.cap(cap));
        }

        /** Sets the spread of delays of this branch. */
        public Builder jitter(Jitter jitter) {
            return with(retry -> retry.jitter(jitter));
        }

        /**
         * Sets the number of attempts of the job, of whatever kind they were, after which a failure of this branch ends it.
         *
         * @param maxAttempts 1 to 1,000,000
         * @throws IllegalArgumentException if {@code maxAttempts} is out of its bounds
         */
        public Builder maxAttempts(int maxAttempts) {
            return with(retry -> retry.maxAttempts(maxAttempts));
        }

        /** Retries failures of this branch however many attempts were made. The deadline still ends the job. */
        public Builder unlimited() {
            return with(RetryPolicy::unlimited);
        }

        /**
         * Retries failures of this branch only in the first part of the time until the deadline.
         *
         * @param share more than 0, up to 1
         * @throws IllegalArgumentException if {@code share} is out of its bounds
         */
        public Builder deadlineShare(double share) {
            if (share <= 0) {
                throw Bounds.refused("deadlineShare", share, "more than 0, up to 1");
            }
            Values old = branch.values();
            return with(new Values(
                    old.classes(),
                    old.items(),
                    old.retry(),
                    Bounds.number("deadlineShare", share, 0, 1),
                    old.counts(),
                    false));
        }

        /** Spends no attempt on failures of this branch. Only the deadline ends such retries. */
        public Builder uncounted() {
            Values old = branch.values();
            return with(new Values(old.classes(), old.items(), old.retry(), old.deadlineShare(), false, false));
        }

        /**
         * Sets the job aside for this long after each failure of this branch, without spending an attempt. The same as
         * {@code fixed(delay).uncounted()}.
         *
         * @param delay 0 to 36,500 days
         * @throws IllegalArgumentException if {@code delay} is out of its bounds
         */
        public Builder parkFor(Duration delay) {
            return fixed(delay).uncounted();
        }

        /** Never retries failures of this branch: the job fails as PERMANENT. Removes what was set before. */
        public Builder never() {
            Values old = branch.values();
            return with(new Values(old.classes(), old.items(), RetryPolicy.unset(), null, true, true));
        }

        /**
         * Ends this branch and begins one for these classes; see {@link RetryPolicy#on(FailureClass...)}.
         *
         * @throws IllegalArgumentException see there
         */
        public Builder on(FailureClass... classes) {
            return policy().on(classes);
        }

        /**
         * Ends this branch and begins one for these HTTP statuses; see {@link RetryPolicy#onStatus(Integer...)}.
         *
         * @throws IllegalArgumentException see there
         */
        public Builder onStatus(Integer... statuses) {
            return policy().onStatus(statuses);
        }

        /**
         * Ends this branch and begins one for these error codes; see {@link RetryPolicy#onCode(String...)}.
         *
         * @throws IllegalArgumentException see there
         */
        public Builder onCode(String... codes) {
            return policy().onCode(codes);
        }

        /**
         * Ends this branch and begins one for these types; see {@link RetryPolicy#onType(String...)}.
         *
         * @throws IllegalArgumentException see there
         */
        public Builder onType(String... types) {
            return policy().onType(types);
        }

        /**
         * Ends this branch and begins one for these messages; see {@link RetryPolicy#onMessage(String...)}.
         *
         * @throws IllegalArgumentException see there
         */
        public Builder onMessage(String... patterns) {
            return policy().onMessage(patterns);
        }

        private Builder with(UnaryOperator<RetryPolicy> change) {
            Values old = branch.values();
            return with(new Values(
                    old.classes(), old.items(), change.apply(old.retry()), old.deadlineShare(), old.counts(), false));
        }

        private Builder with(Values values) {
            return new Builder(policy, new Branch(values));
        }
    }
}
