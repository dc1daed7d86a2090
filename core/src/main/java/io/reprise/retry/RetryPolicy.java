// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.Classification;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.failure.Rule;
import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * How often, how long and for which failures a job is retried. A policy is data: JSON and a database keep it unchanged.
 *
 * <p>Every field may be unset, so policies form layers. {@code job.orElse(type).orElse(queue)} takes each field from
 * the first layer that sets it. The layers of a job are job, type, resource, queue, worker, then {@link #DEFAULT}.
 * Unset is not the same as zero, none or unlimited.
 *
 * <pre>{@code
 * RetryPolicy.exponential(Duration.ofSeconds(1)).cap(Duration.ofMinutes(5)).maxAttempts(10).neverRetryOn(BadCard.class)
 * }</pre>
 *
 * <p>Immutable and thread-safe. A method that sets a field returns a new policy. If it is called twice, the last call
 * wins, except for rules, which add up. A bad value is refused at once. The message names the field and the allowed
 * values. "Default" below is the value of {@link #DEFAULT}.
 *
 * @since 0.1.0
 */
public final class RetryPolicy {

    private static final RetryPolicy UNSET = new RetryPolicy(new PolicyFields());

    /**
     * The default policy: exponential from 2 s to 1 h with full jitter, 20 attempts within 24 h.
     *
     * <p>It sets every field but two. {@link #unclassified(FailureClass) unclassified} is unset, which means TRANSIENT,
     * so that {@link #retryOn(String...) retryOn} on top of the default can make it PERMANENT.
     * {@link #giveUpBelow(double, int) giveUpBelow} is unset, which means never.
     */
    public static final RetryPolicy DEFAULT = unset().backoff(new Backoff.Exponential(Duration.ofSeconds(2), 2, 0))
            .cap(Duration.ofHours(1))
            .minDelay(Duration.ZERO)
            .jitter(Jitter.full())
            .capOrder(CapOrder.CAP_JITTER_CAP)
            .rounding(Rounding.NONE)
            .maxAttempts(20)
            .deadline(Duration.ofHours(24))
            .retryAfterCap(Duration.ofHours(1))
            .retryTimeouts(true)
            .losses(LossRule.DEFAULT)
            .with(fields -> fields.rules(DefaultRules.RULES))
            .onlyTheseRules();

    private final PolicyFields fields;

    /** Computed on first use. Two threads may compute it at the same time; the values are equal. */
    private @Nullable RetryPolicy complete;

    private @Nullable DelayModel model;

    private @Nullable String json;

    private int hash;

    RetryPolicy(PolicyFields fields) {
        this.fields = fields;
    }

    /** Returns a policy that sets no field. */
    public static RetryPolicy unset() {
        return UNSET;
    }

    /** Returns a policy with one attempt and no retry. It sets only {@code maxAttempts}. */
    public static RetryPolicy none() {
        return unset().maxAttempts(1);
    }

    /**
     * Returns a policy with exponential backoff. It sets only the kind; base, factor and offset come from the layers
     * beneath.
     */
    public static RetryPolicy exponential() {
        return unset().with(fields -> fields.kind = PolicyFields.Kind.EXPONENTIAL);
    }

    /**
     * Returns a policy with exponential backoff from {@code base}. Factor and offset come from the layers beneath; by
     * default the delay doubles.
     *
     * @param base the first delay; 0 to 36,500 days
     * @throws NullPointerException if {@code base} is null
     * @throws IllegalArgumentException if {@code base} is out of its bounds
     */
    public static RetryPolicy exponential(Duration base) {
        return exponential().base(base);
    }

    /**
     * Returns a policy with linear backoff: {@code step}, {@code 2 * step}, {@code 3 * step} and so on.
     *
     * @param step 0 to 36,500 days
     * @throws NullPointerException if {@code step} is null
     * @throws IllegalArgumentException if {@code step} is out of its bounds
     */
    public static RetryPolicy linear(Duration step) {
        return unset().backoff(new Backoff.Linear(step));
    }

    /**
     * Returns a policy with one delay for all retries. Jitter spreads this delay as any other. For exactly this delay,
     * add {@code jitter(Jitter.none())}.
     *
     * @param delay 0 to 36,500 days
     * @throws NullPointerException if {@code delay} is null
     * @throws IllegalArgumentException if {@code delay} is out of its bounds
     */
    public static RetryPolicy fixed(Duration delay) {
        return unset().backoff(new Backoff.Fixed(delay));
    }

    /**
     * Returns a policy whose delays are listed one by one. The last delay repeats. Jitter and cap apply as to any other
     * backoff.
     *
     * @param delays 1 to 1,000 delays, each 0 to 36,500 days
     * @throws NullPointerException if a delay is null
     * @throws IllegalArgumentException if there is no delay, if there are too many, or if a delay is out of its bounds
     */
    public static RetryPolicy table(Duration... delays) {
        return unset().backoff(new Backoff.Table(Arrays.asList(delays)));
    }

    /**
     * Returns the policy of {@link Presets} with this name.
     *
     * @throws NullPointerException if {@code name} is null
     * @throws IllegalArgumentException if no preset has this name; the message lists similar names
     */
    public static RetryPolicy preset(String name) {
        return Presets.get(name);
    }

    /**
     * Reads the JSON of a policy, as {@link #toJson} writes it or as a person writes it. An absent field is unset; null
     * means none.
     *
     * @param json at most 1,000,000 characters; docs/retries.md lists the fields
     * @throws NullPointerException if {@code json} is null
     * @throws IllegalArgumentException if the text is not JSON, if a field is unknown or appears twice, or if a value
     *     is out of its bounds; the message names the field
     */
    public static RetryPolicy fromJson(String json) {
        return new RetryPolicy(PolicyJson.read(json));
    }

    /**
     * Returns the canonical JSON: equal policies give equal text. An unset field is absent; null means none or
     * unlimited.
     */
    public String toJson() {
        String known = json;
        if (known == null) {
            known = PolicyJson.write(fields);
            json = known;
        }
        return known;
    }

    /**
     * Returns this policy with each unset field taken from {@code lower}.
     *
     * <p>Rules are one ordered list. Those of {@code lower} are asked after the rules of this policy, unless this
     * policy has {@link #onlyTheseRules}.
     *
     * @throws NullPointerException if {@code lower} is null
     */
    public RetryPolicy orElse(RetryPolicy lower) {
        return new RetryPolicy(fields.copy().fill(lower.fields));
    }

    /**
     * Sets the kind of backoff and all its numbers. Default: exponential, base 2 s, factor 2, offset 0.
     *
     * @throws IllegalArgumentException if {@code backoff} is a table and the jitter is decorrelated or base-to-raw
     */
    public RetryPolicy backoff(Backoff backoff) {
        Objects.requireNonNull(backoff, "backoff");
        return with(fields -> fields.backoff(backoff));
    }

    /**
     * Sets the first delay of exponential backoff, the step of linear backoff, or the delay of fixed backoff. A table
     * ignores it. Default: 2 s.
     *
     * @param base 0 to 36,500 days
     * @throws NullPointerException if {@code base} is null
     * @throws IllegalArgumentException if {@code base} is out of its bounds
     */
    public RetryPolicy base(Duration base) {
        return with(fields -> fields.base(base));
    }

    /**
     * Sets the factor from one exponential delay to the next. Other kinds of backoff ignore it. Default: 2.
     *
     * @param factor 1 to 1,000
     * @throws IllegalArgumentException if {@code factor} is out of its bounds or not a number
     */
    public RetryPolicy factor(double factor) {
        return with(fields -> fields.factor(factor));
    }

    /**
     * Sets where exponential backoff starts. Other kinds of backoff ignore it. Default: 0.
     *
     * @param offset 0 if the first delay is the base, 1 if the first delay is the base times the factor
     * @throws IllegalArgumentException if {@code offset} is neither 0 nor 1
     */
    public RetryPolicy offset(int offset) {
        return with(fields -> fields.offset(offset));
    }

    /**
     * Sets the longest delay. {@link #capOrder(CapOrder)} says how the cap and the jitter work together; only a
     * Retry-After makes a delay longer. A cap below the base is allowed: then every delay is held at the cap. Default:
     * 1 h, and none for a fixed delay or a table.
     *
     * @param cap more than 0, up to 36,500 days
     * @throws NullPointerException if {@code cap} is null
     * @throws IllegalArgumentException if {@code cap} is out of its bounds, or below the {@code minDelay} of this
     *     policy
     */
    public RetryPolicy cap(Duration cap) {
        return with(fields -> fields.cap(cap));
    }

    /** Removes the cap, whatever the layers beneath say. Delays still end at 36,500 days. */
    public RetryPolicy noCap() {
        return with(fields -> fields.cap = Limit.none());
    }

    /**
     * Sets the shortest delay. It is applied last, after jitter and rounding. If layers combine to a minimum above the
     * cap, the cap wins. Default: 0.
     *
     * @param minDelay 0 to 36,500 days, at most the cap of this policy
     * @throws NullPointerException if {@code minDelay} is null
     * @throws IllegalArgumentException if {@code minDelay} is out of its bounds or above the cap of this policy
     */
    public RetryPolicy minDelay(Duration minDelay) {
        return with(fields -> fields.minDelay(minDelay));
    }

    /**
     * Sets the spread of delays. Default: {@link Jitter#full()}.
     *
     * @throws IllegalArgumentException if {@code jitter} is decorrelated or base-to-raw and the backoff of this policy
     *     is a table
     */
    public RetryPolicy jitter(Jitter jitter) {
        Objects.requireNonNull(jitter, "jitter");
        return with(fields -> fields.jitter = jitter);
    }

    /** Sets the order of cap and jitter. Default: {@link CapOrder#CAP_JITTER_CAP}. */
    public RetryPolicy capOrder(CapOrder capOrder) {
        Objects.requireNonNull(capOrder, "capOrder");
        return with(fields -> fields.capOrder = capOrder);
    }

    /** Sets the resolution of delays. Default: {@link Rounding#NONE}, which is microseconds. */
    public RetryPolicy rounding(Rounding rounding) {
        Objects.requireNonNull(rounding, "rounding");
        return with(fields -> fields.rounding = rounding);
    }

    /**
     * Sets the number of runs in total, the first included. It is the same field as {@link #maxRetries} and
     * {@link #unlimited}. Default: 20.
     *
     * <p>A job that names a resource may run up to as many times again while the breaker of the resource is open or
     * recovers: such probes are free. Losses, interruptions and snoozes are not counted either, unless
     * {@link #losses(LossRule)} counts losses.
     *
     * @param maxAttempts 1 to 1,000,000
     * @throws IllegalArgumentException if {@code maxAttempts} is out of its bounds
     */
    public RetryPolicy maxAttempts(int maxAttempts) {
        return with(fields -> fields.maxAttempts(maxAttempts));
    }

    /**
     * Sets the number of runs after the first: {@code maxAttempts(maxRetries + 1)}. With 0 there is one attempt and no
     * retry, which is not the same as unset.
     *
     * @param maxRetries 0 to 999,999
     * @throws IllegalArgumentException if {@code maxRetries} is out of its bounds
     */
    public RetryPolicy maxRetries(int maxRetries) {
        return maxAttempts(Bounds.integer("maxRetries", maxRetries, 0, Bounds.MAX_ATTEMPTS - 1) + 1);
    }

    /**
     * Fails a job when it has failed more than {@code threshold} times: {@code maxAttempts(threshold + 1)}.
     *
     * @param threshold 0 to 999,999
     * @throws IllegalArgumentException if {@code threshold} is out of its bounds
     */
    public RetryPolicy failAfterMoreThan(int threshold) {
        return maxAttempts(Bounds.integer("failAfterMoreThan", threshold, 0, Bounds.MAX_ATTEMPTS - 1) + 1);
    }

    /** Removes the limit of attempts, whatever the layers beneath say. The deadline still ends the job. */
    public RetryPolicy unlimited() {
        return with(fields -> fields.maxAttempts = Limit.none());
    }

    /**
     * Sets the time limit of a job, counted from when the job first became due. No attempt starts at the deadline or
     * later. A job whose next attempt would start there fails with {@link FailReason#DEADLINE}. Default: 24 h.
     *
     * @param deadline more than 0, up to 36,500 days
     * @throws NullPointerException if {@code deadline} is null
     * @throws IllegalArgumentException if {@code deadline} is out of its bounds
     */
    public RetryPolicy deadline(Duration deadline) {
        return with(fields -> fields.deadline(deadline));
    }

    /** Removes the deadline, whatever the layers beneath say. */
    public RetryPolicy noDeadline() {
        return with(fields -> fields.deadline = Limit.none());
    }

    /**
     * Sets the longest Retry-After that is honoured. A longer one is cut to it. With zero, Retry-After is ignored. The
     * delay is the longer of the backoff and this value, so it can exceed the cap. Default: 1 h.
     *
     * @param retryAfterCap 0 to 36,500 days
     * @throws NullPointerException if {@code retryAfterCap} is null
     * @throws IllegalArgumentException if {@code retryAfterCap} is out of its bounds
     */
    public RetryPolicy retryAfterCap(Duration retryAfterCap) {
        return with(fields -> fields.retryAfterCap(retryAfterCap));
    }

    /**
     * Sets whether an attempt that exceeded the timeout of the job is retried. If false, the job fails with
     * {@link FailReason#PERMANENT}. Default: true.
     */
    public RetryPolicy retryTimeouts(boolean retryTimeouts) {
        return with(fields -> fields.retryTimeouts = retryTimeouts);
    }

    /** Sets what a loss of the worker costs the job. Default: {@link LossRule#DEFAULT}. */
    public RetryPolicy losses(LossRule losses) {
        Objects.requireNonNull(losses, "losses");
        return with(fields -> fields.losses = losses);
    }

    /**
     * Fails a job as {@link FailReason#HOPELESS} instead of retrying it, if retries of its error almost never succeed
     * in the whole fleet. One such job in {@value GiveUp#CANARY} is retried all the same. Default: never.
     *
     * @param probability the job fails if a smaller share of retries succeeded; 0 to 1
     * @param minSamples tries that are needed before the rule applies; 1 to 1,000,000
     * @throws IllegalArgumentException if an argument is out of its bounds or not a number
     */
    public RetryPolicy giveUpBelow(double probability, int minSamples) {
        GiveUp rule = new GiveUp(probability, minSamples);
        return with(fields -> fields.giveUpBelow = Limit.of(rule));
    }

    /** Retries however small the chance is, whatever the layers beneath say. */
    public RetryPolicy neverGiveUp() {
        return with(fields -> fields.giveUpBelow = Limit.none());
    }

    /**
     * Sets the class of a failure that no rule matches. If no layer sets it, the class is TRANSIENT.
     *
     * @param failureClass TRANSIENT or PERMANENT
     * @throws IllegalArgumentException if {@code failureClass} is any other class
     */
    public RetryPolicy unclassified(FailureClass failureClass) {
        return with(fields -> fields.unclassified(failureClass));
    }

    /**
     * Adds a rule. It is asked after the rules added before it and ahead of the default rules. A second call adds a
     * second rule; of two rules that match, the first decides.
     *
     * @throws NullPointerException if {@code rule} is null
     * @throws IllegalArgumentException if the policy would have more than 1,000 rules
     */
    public RetryPolicy rule(Rule rule) {
        return with(fields -> fields.rules(RuleList.with(fields.rules, rule)));
    }

    /**
     * Begins a branch: failures of these classes are answered in its own way. Without further calls a branch changes
     * nothing. Branches add up; the first that matches decides, and those of this policy come before those of layers
     * beneath.
     *
     * @param classes one or more of TRANSIENT, THROTTLED, DEPENDENCY_DOWN and TIMEOUT
     * @throws IllegalArgumentException if there is no class, or another class
     */
    public Branch.Builder on(FailureClass... classes) {
        return new Branch.Builder(this, Branch.ofClasses(Arrays.asList(classes)));
    }

    /**
     * Begins a branch for failures with these HTTP statuses; see {@link Branch}.
     *
     * @throws IllegalArgumentException if there is no status, or a status is not 100 to 599
     */
    public Branch.Builder onStatus(Integer... statuses) {
        return on(Rule.ofStatuses(Branch.ITEMS, FailureClass.TRANSIENT, statuses));
    }

    /**
     * Begins a branch for failures with these application error codes; see {@link Branch}.
     *
     * @throws IllegalArgumentException if there is no code, or a code is blank or has more than 500 characters
     */
    public Branch.Builder onCode(String... codes) {
        return on(Rule.ofCodes(Branch.ITEMS, FailureClass.TRANSIENT, codes));
    }

    /**
     * Begins a branch for failures of these types; see {@link Branch}.
     *
     * @param types class names; subclasses and implementations match too
     * @throws IllegalArgumentException if there is no type, or a type is blank or has more than 500 characters
     */
    public Branch.Builder onType(String... types) {
        return on(Rule.ofTypes(Branch.ITEMS, FailureClass.TRANSIENT, types));
    }

    /**
     * Begins a branch for failures whose message matches a pattern; see {@link Branch}.
     *
     * @param patterns regular expressions, found anywhere in a message; case does not matter
     * @throws IllegalArgumentException if there is no pattern, or a pattern cannot be read
     */
    public Branch.Builder onMessage(String... patterns) {
        return on(Rule.ofMessages(Branch.ITEMS, FailureClass.TRANSIENT, patterns));
    }

    private Branch.Builder on(Rule items) {
        return new Branch.Builder(this, Branch.ofItems(items));
    }

    RetryPolicy withBranch(Branch branch) {
        return with(fields -> {
            List<Branch> all = new ArrayList<>(fields.branches);
            all.add(branch);
            fields.branches(all);
        });
    }

    /** Leaves out the rules of the layers beneath. A second call changes nothing, and no call undoes it. */
    public RetryPolicy onlyTheseRules() {
        return with(fields -> fields.rulesOnly = true);
    }

    /**
     * Retries only these types and their subclasses, and what other rules of this policy retry. See
     * {@link #retryOn(String...)}.
     *
     * @throws NullPointerException if a type is null
     * @throws IllegalArgumentException if a name has more than 500 characters, or the policy would have more than 1,000
     *     rules
     */
    @SafeVarargs
    public final RetryPolicy retryOn(Class<? extends Throwable>... types) {
        String[] names = new String[types.length];
        for (int i = 0; i < types.length; i++) {
            names[i] = types[i].getName();
        }
        return retryOn(names);
    }

    /**
     * Retries only failures of these types, and what other rules of this policy retry. A second call adds more types.
     *
     * <p>The default rules and the rules of layers beneath are not asked any more. A failure that matches no rule is
     * PERMANENT, unless {@link #unclassified(FailureClass) unclassified} is set. With no type at all, only the other
     * rules of this policy are left.
     *
     * @param types class names; subclasses and implementations match too
     * @throws NullPointerException if a type is null
     * @throws IllegalArgumentException if a type is blank or has more than 500 characters, or the policy would have
     *     more than 1,000 rules
     */
    public RetryPolicy retryOn(String... types) {
        return only(types, (name, type) -> Rule.ofTypes(name, FailureClass.TRANSIENT, type), "");
    }

    /**
     * Retries only failures with these application error codes, and what other rules of this policy retry. It works as
     * {@link #retryOn(String...)}.
     *
     * @throws NullPointerException if a code is null
     * @throws IllegalArgumentException if a code is blank or has more than 500 characters, or the policy would have
     *     more than 1,000 rules
     */
    public RetryPolicy retryOnCode(String... codes) {
        return only(codes, (name, code) -> Rule.ofCodes(name, FailureClass.TRANSIENT, code), "code ");
    }

    /**
     * Retries only failures with these HTTP statuses, and what other rules of this policy retry. It works as
     * {@link #retryOn(String...)}.
     *
     * @throws NullPointerException if a status is null
     * @throws IllegalArgumentException if a status is not 100 to 599, or the policy would have more than 1,000 rules
     */
    public RetryPolicy retryOnStatus(Integer... statuses) {
        return only(statuses, (name, status) -> Rule.ofStatuses(name, FailureClass.TRANSIENT, status), "status ");
    }

    /**
     * Retries only failures whose message matches a pattern, and what other rules of this policy retry. It works as
     * {@link #retryOn(String...)}.
     *
     * @param patterns regular expressions, found anywhere in a message; case does not matter
     * @throws NullPointerException if a pattern is null
     * @throws IllegalArgumentException if a pattern is blank, has more than 500 characters or is not a regular
     *     expression, or the policy would have more than 1,000 rules
     */
    public RetryPolicy retryOnMessage(String... patterns) {
        return only(patterns, (name, text) -> Rule.ofMessages(name, FailureClass.TRANSIENT, text), "message ");
    }

    /**
     * Never retries these types and their subclasses. See {@link #neverRetryOn(String...)}.
     *
     * @throws NullPointerException if a type is null
     * @throws IllegalArgumentException if a name has more than 500 characters, or the policy would have more than 1,000
     *     rules
     */
    @SafeVarargs
    public final RetryPolicy neverRetryOn(Class<? extends Throwable>... types) {
        String[] names = new String[types.length];
        for (int i = 0; i < types.length; i++) {
            names[i] = types[i].getName();
        }
        return neverRetryOn(names);
    }

    /**
     * Never retries failures of these types: their class is PERMANENT. The rule is asked before the rules of
     * {@code retryOn} and before the default rules, but after other rules added before. A second call adds more types;
     * with no type nothing changes.
     *
     * @param types class names; subclasses and implementations match too
     * @throws NullPointerException if a type is null
     * @throws IllegalArgumentException if a type is blank or has more than 500 characters, or the policy would have
     *     more than 1,000 rules
     */
    public RetryPolicy neverRetryOn(String... types) {
        return never(types, (name, type) -> Rule.ofTypes(name, FailureClass.PERMANENT, type), "");
    }

    /**
     * Never retries failures with these application error codes. It works as {@link #neverRetryOn(String...)}.
     *
     * @throws NullPointerException if a code is null
     * @throws IllegalArgumentException if a code is blank or has more than 500 characters, or the policy would have
     *     more than 1,000 rules
     */
    public RetryPolicy neverRetryOnCode(String... codes) {
        return never(codes, (name, code) -> Rule.ofCodes(name, FailureClass.PERMANENT, code), "code ");
    }

    /**
     * Never retries failures with these HTTP statuses. It works as {@link #neverRetryOn(String...)}.
     *
     * @throws NullPointerException if a status is null
     * @throws IllegalArgumentException if a status is not 100 to 599, or the policy would have more than 1,000 rules
     */
    public RetryPolicy neverRetryOnStatus(Integer... statuses) {
        return never(statuses, (name, status) -> Rule.ofStatuses(name, FailureClass.PERMANENT, status), "status ");
    }

    /**
     * Never retries failures whose message matches a pattern. It works as {@link #neverRetryOn(String...)}.
     *
     * @param patterns regular expressions, found anywhere in a message; case does not matter
     * @throws NullPointerException if a pattern is null
     * @throws IllegalArgumentException if a pattern is blank, has more than 500 characters or is not a regular
     *     expression, or the policy would have more than 1,000 rules
     */
    public RetryPolicy neverRetryOnMessage(String... patterns) {
        return never(patterns, (name, text) -> Rule.ofMessages(name, FailureClass.PERMANENT, text), "message ");
    }

    /** Returns the curve; empty unless this layer sets its kind and all its numbers. */
    public Optional<Backoff> backoff() {
        return Optional.ofNullable(fields.backoff());
    }

    /** Returns the first delay, the step or the fixed delay; empty if unset. */
    public Optional<Duration> base() {
        return Optional.ofNullable(fields.base);
    }

    /** Returns the factor of exponential backoff; empty if unset. */
    public Optional<Double> factor() {
        return Optional.ofNullable(fields.factor);
    }

    /** Returns the offset of exponential backoff, 0 or 1; empty if unset. */
    public Optional<Integer> offset() {
        return Optional.ofNullable(fields.offset);
    }

    /** Returns the longest delay. {@link #noCap} gives {@link Limit.None}. */
    public Limit<Duration> cap() {
        return fields.cap;
    }

    /** Returns the shortest delay; empty if unset. */
    public Optional<Duration> minDelay() {
        return Optional.ofNullable(fields.minDelay);
    }

    /** Returns the jitter; empty if unset. */
    public Optional<Jitter> jitter() {
        return Optional.ofNullable(fields.jitter);
    }

    /** Returns the order of cap and jitter; empty if unset. */
    public Optional<CapOrder> capOrder() {
        return Optional.ofNullable(fields.capOrder);
    }

    /** Returns the resolution of delays; empty if unset. */
    public Optional<Rounding> rounding() {
        return Optional.ofNullable(fields.rounding);
    }

    /** Returns the number of runs in total, the first included. {@link #unlimited} gives {@link Limit.None}. */
    public Limit<Integer> maxAttempts() {
        return fields.maxAttempts;
    }

    /** Returns the time limit of a job. {@link #noDeadline} gives {@link Limit.None}. */
    public Limit<Duration> deadline() {
        return fields.deadline;
    }

    /** Returns the longest Retry-After that is honoured; empty if unset. */
    public Optional<Duration> retryAfterCap() {
        return Optional.ofNullable(fields.retryAfterCap);
    }

    /** Returns whether timeouts are retried; empty if unset. */
    public Optional<Boolean> retryTimeouts() {
        return Optional.ofNullable(fields.retryTimeouts);
    }

    /** Returns the class of a failure that no rule matches, TRANSIENT or PERMANENT; empty if unset. */
    public Optional<FailureClass> unclassified() {
        return Optional.ofNullable(fields.unclassified);
    }

    /**
     * Returns the rules of this policy in the order in which they are asked. Rules of layers beneath are not included;
     * see {@link #complete}.
     */
    public List<Rule> rules() {
        return fields.rules;
    }

    /** Returns whether the rules of layers beneath are left out. */
    public boolean rulesOnly() {
        return fields.rulesOnly;
    }

    /** Returns what a loss of the worker costs; empty if unset. */
    public Optional<LossRule> losses() {
        return Optional.ofNullable(fields.losses);
    }

    /** Returns when a job is given up as hopeless. {@link #neverGiveUp} gives {@link Limit.None}. */
    public Limit<GiveUp> giveUpBelow() {
        return fields.giveUpBelow;
    }

    /**
     * Returns the policy with at most these attempts and this deadline, in its branches too. A policy without a limit
     * gets these limits.
     *
     * @param attempts 1 to 1,000,000; null for no ceiling
     * @param longest the longest deadline; null for no ceiling
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public RetryPolicy within(@Nullable Integer attempts, @Nullable Duration longest) {
        RetryPolicy all = this;
        if (attempts != null && !isWithin(maxAttempts(), attempts)) {
            all = all.maxAttempts(attempts);
        }
        if (longest != null && !isWithin(deadline(), longest)) {
            all = all.deadline(longest);
        }
        boolean wide = attempts != null
                && branches().stream()
                        .anyMatch(each -> each.retry().maxAttempts().isSet()
                                && !isWithin(each.retry().maxAttempts(), attempts));
        return wide
                ? all.with(fields -> fields.branches(branches().stream()
                        .map(branch -> branch.within(attempts))
                        .toList()))
                : all;
    }

    private static <T extends Comparable<T>> boolean isWithin(Limit<T> limit, T most) {
        return limit.toOptional().map(value -> value.compareTo(most) <= 0).orElse(false);
    }

    /** Returns the branches in the order in which they are asked. Those of layers beneath are not included. */
    public List<Branch> branches() {
        return fields.branches;
    }

    PolicyFields fields() {
        return fields;
    }

    /** Whether this layer writes each delay out: fixed, or a table. */
    boolean writesDelaysOut() {
        return fields.writesDelaysOut();
    }

    /** Whether this layer sets a kind of backoff, with or without its numbers. */
    boolean setsBackoff() {
        return fields.kind != null;
    }

    /**
     * Returns this policy with unset fields taken from {@link #DEFAULT}. Only {@code unclassified} and
     * {@code giveUpBelow} can still be unset. A fixed delay or a table without a cap of its own gets no cap: the
     * default's cap is for delays that grow.
     */
    public RetryPolicy complete() {
        RetryPolicy known = complete;
        if (known == null) {
            PolicyFields all = fields.copy();
            if (!all.cap.isSet() && all.writesDelaysOut()) {
                // The default's cap is for curves. A delay that somebody wrote down is not cut by it.
                all.cap = Limit.none();
            }
            known = new RetryPolicy(all.fill(DEFAULT.fields));
            complete = known;
        }
        return known;
    }

    /** As {@link #delay}, with the value before jitter. */
    Delay draw(int retry, @Nullable Duration lastDelay, RandomGenerator random) {
        return model().draw(retry, lastDelay, random);
    }

    /**
     * Draws the delay before a retry.
     *
     * @param retry number of the retry, from 1
     * @param lastDelay the delay before the attempt that failed, for decorrelated jitter; null if there was none
     * @param random the source of randomness
     * @return the delay to wait
     * @throws IllegalArgumentException if {@code retry} is less than 1
     */
    public Duration delay(int retry, @Nullable Duration lastDelay, RandomGenerator random) {
        return draw(retry, lastDelay, random).value();
    }

    /**
     * Finds the class of a failure. The order is: the class that the failure was given, then {@link NonRetryable}, then
     * the rules in order, then {@code unclassified}.
     */
    public Classification classify(Failure failure) {
        return Classifier.classify(complete(), failure);
    }

    /**
     * Decides what follows a failed attempt, without a prediction. A lost lease is decided as if the job ran alone; see
     * {@link #decideLoss}.
     *
     * @param failure the failure of the attempt
     * @param history the past of the job, without this attempt
     * @param random the source of randomness for the delay
     */
    public Decision decide(Failure failure, AttemptHistory history, RandomGenerator random) {
        return decide(failure, history, null, random);
    }

    /**
     * Decides what follows a failed attempt. Attempts are checked first, then
     * {@link #giveUpBelow(double, int) giveUpBelow}, then the deadline.
     *
     * @param failure the failure of the attempt
     * @param history the past of the job, without this attempt
     * @param prediction how likely the next attempt is to succeed; null if unknown. Only {@code giveUpBelow} uses it
     * @param random the source of randomness for the delay
     */
    public Decision decide(
            Failure failure, AttemptHistory history, @Nullable Prediction prediction, RandomGenerator random) {
        return new RetryDecider(complete(), history, prediction, random).afterFailure(failure);
    }

    /**
     * Decides what follows a lost lease, by {@link #losses(LossRule)}.
     *
     * @param failure the loss; it does not change the decision
     * @param history the past of the job, without this loss
     * @param alone whether the job was the only suspect of the worker that was lost. If not, the job may be innocent:
     *     it is not quarantined but comes back, to run beside fewer others
     * @param random the source of randomness for the delay
     */
    public Decision decideLoss(Failure failure, AttemptHistory history, boolean alone, RandomGenerator random) {
        return new RetryDecider(complete(), history, null, random).afterLoss(alone);
    }

    DelayModel model() {
        DelayModel known = model;
        if (known == null) {
            known = new DelayModel(complete());
            model = known;
        }
        return known;
    }

    private RetryPolicy with(Consumer<PolicyFields> change) {
        PolicyFields changed = fields.copy();
        change.accept(changed);
        changed.requireConsistent(fields);
        return new RetryPolicy(changed);
    }

    private interface RuleMaker<T> {
        Rule make(String name, T item);
    }

    private <T> RetryPolicy only(T[] items, RuleMaker<T> maker, String prefix) {
        return with(fields -> {
            for (T item : items) {
                Rule rule = maker.make(RuleList.only(prefix + item), item);
                fields.rules(RuleList.withOnly(fields.rules, rule));
            }
            fields.rulesOnly = true;
            fields.unclassified = fields.unclassified == null ? FailureClass.PERMANENT : fields.unclassified;
        });
    }

    private <T> RetryPolicy never(T[] items, RuleMaker<T> maker, String prefix) {
        return with(fields -> {
            for (T item : items) {
                Rule rule = maker.make(RuleList.never(prefix + item), item);
                fields.rules(RuleList.withNever(fields.rules, rule));
            }
        });
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof RetryPolicy policy && fields.equals(policy.fields));
    }

    @Override
    public int hashCode() {
        int known = hash;
        if (known == 0) {
            known = fields.hashCode();
            hash = known;
        }
        return known;
    }

    @Override
    public String toString() {
        return "RetryPolicy" + toJson();
    }
}
