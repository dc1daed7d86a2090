// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * How often, how long and for which failures a job is retried. Pure data: it survives JSON and a database unchanged.
 *
 * <p>Every field may be left unset, so that policies layer: {@code job.orElse(type).orElse(queue)} takes each field
 * from the first layer that sets it. Unset is not the same as zero, none or unlimited. What no layer sets comes from
 * {@link #DEFAULT}.
 *
 * <pre>{@code
 * RetryPolicy.exponential(Duration.ofSeconds(1)).cap(Duration.ofMinutes(5)).maxAttempts(10).neverRetryOn(BadCard.class)
 * }</pre>
 *
 * <p>Immutable. Every method that sets a field returns a new policy and refuses a bad value at once with an
 * {@link IllegalArgumentException} that names the field and what is allowed.
 */
public final class RetryPolicy {

    private static final RetryPolicy UNSET = new RetryPolicy(new PolicyFields());

    /**
     * Exponential from 2 s to 1 h with full jitter, 20 attempts within 24 h.
     *
     * <p>Sets everything but {@link #unclassified}, whose absence means TRANSIENT, so that {@link #retryOn} on top of
     * the default means what it says, and {@link #giveUpBelow}, whose absence means never.
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

    /** Computed on first use; a race computes equal values twice. */
    private @Nullable RetryPolicy complete;

    private @Nullable DelayModel model;

    private @Nullable String json;

    private int hash;

    RetryPolicy(PolicyFields fields) {
        this.fields = fields;
    }

    /** Sets nothing. */
    public static RetryPolicy unset() {
        return UNSET;
    }

    /** One attempt, no retry. */
    public static RetryPolicy none() {
        return unset().maxAttempts(1);
    }

    /** Exponential backoff whose numbers come from the layers beneath. */
    public static RetryPolicy exponential() {
        return unset().with(fields -> fields.kind = BackoffKind.EXPONENTIAL);
    }

    public static RetryPolicy exponential(Duration base) {
        return exponential().base(base);
    }

    public static RetryPolicy linear(Duration step) {
        return unset().backoff(new Backoff.Linear(step));
    }

    /** The same delay before each retry, spread by the jitter like any other: add {@code jitter(Jitter.none())} for exactly this. */
    public static RetryPolicy fixed(Duration delay) {
        return unset().backoff(new Backoff.Fixed(delay));
    }

    /** Delays written out one by one; the last repeats. */
    public static RetryPolicy table(Duration... delays) {
        return unset().backoff(new Backoff.Table(Arrays.asList(delays)));
    }

    /** The policy of {@link Presets} with this name. */
    public static RetryPolicy preset(String name) {
        return Presets.get(name);
    }

    /** Reads what {@link #toJson} wrote; refuses unknown fields, duplicates and values out of range. */
    public static RetryPolicy fromJson(String json) {
        return new RetryPolicy(PolicyJson.read(json));
    }

    /** Canonical JSON: equal policies give equal text. Absent means unset, null means none or unlimited. */
    public String toJson() {
        String known = json;
        if (known == null) {
            known = PolicyJson.write(fields);
            json = known;
        }
        return known;
    }

    /**
     * This policy with unset fields taken from {@code lower}.
     *
     * <p>Rules are one ordered list: those of {@code lower} are asked after the ones here, unless this policy has
     * {@link #onlyTheseRules}.
     */
    public RetryPolicy orElse(RetryPolicy lower) {
        return new RetryPolicy(fields.copy().fill(lower.fields));
    }

    /** Sets the kind of backoff and all its numbers. */
    public RetryPolicy backoff(Backoff backoff) {
        return with(fields -> fields.backoff(backoff));
    }

    /** The first delay of exponential backoff, the step of linear, the delay of fixed. */
    public RetryPolicy base(Duration base) {
        return with(fields -> fields.base(base));
    }

    /** What each exponential delay is multiplied by, 1 to 1000. */
    public RetryPolicy factor(double factor) {
        return with(fields -> fields.factor(factor));
    }

    /** 0: the first exponential delay is the base. 1: it is the base times the factor. */
    public RetryPolicy offset(int offset) {
        return with(fields -> fields.offset(offset));
    }

    public RetryPolicy cap(Duration cap) {
        return with(fields -> fields.cap(cap));
    }

    public RetryPolicy noCap() {
        return with(fields -> fields.cap = Limit.none());
    }

    /** No delay is shorter, after jitter and rounding. At most the cap. */
    public RetryPolicy minDelay(Duration minDelay) {
        return with(fields -> fields.minDelay(minDelay));
    }

    public RetryPolicy jitter(Jitter jitter) {
        return with(fields -> fields.jitter = jitter);
    }

    public RetryPolicy capOrder(CapOrder capOrder) {
        return with(fields -> fields.capOrder = capOrder);
    }

    public RetryPolicy rounding(Rounding rounding) {
        return with(fields -> fields.rounding = rounding);
    }

    /** Runs in total, the first included; 1 to 1,000,000. */
    public RetryPolicy maxAttempts(int maxAttempts) {
        return with(fields -> fields.maxAttempts(maxAttempts));
    }

    /** Runs after the first; 0 is one attempt and no retry. */
    public RetryPolicy maxRetries(int maxRetries) {
        return maxAttempts(Bounds.integer("maxRetries", maxRetries, 0, Bounds.MAX_ATTEMPTS - 1) + 1);
    }

    /** Fails with the first failure that makes the count of failures exceed the threshold. */
    public RetryPolicy failAfterMoreThan(int threshold) {
        return maxAttempts(Bounds.integer("failAfterMoreThan", threshold, 0, Bounds.MAX_ATTEMPTS - 1) + 1);
    }

    public RetryPolicy unlimited() {
        return with(fields -> fields.maxAttempts = Limit.none());
    }

    /** No attempt starts this long after the job first became due, or later. */
    public RetryPolicy deadline(Duration deadline) {
        return with(fields -> fields.deadline(deadline));
    }

    public RetryPolicy noDeadline() {
        return with(fields -> fields.deadline = Limit.none());
    }

    /** The longest Retry-After that is honoured; longer ones are cut to it, and zero ignores them. */
    public RetryPolicy retryAfterCap(Duration retryAfterCap) {
        return with(fields -> fields.retryAfterCap(retryAfterCap));
    }

    /** Whether an attempt that ran into the job's timeout is retried like a failure. */
    public RetryPolicy retryTimeouts(boolean retryTimeouts) {
        return with(fields -> fields.retryTimeouts = retryTimeouts);
    }

    public RetryPolicy losses(LossRule losses) {
        return with(fields -> fields.losses = losses);
    }

    /**
     * Fails a job as HOPELESS instead of retrying it, if retries of its error succeeded less often than
     * {@code probability}, 0 to 1, in at least {@code minSamples} tries of the whole fleet. Unset everywhere means never.
     */
    public RetryPolicy giveUpBelow(double probability, int minSamples) {
        GiveUp rule = new GiveUp(probability, minSamples);
        return with(fields -> fields.giveUpBelow = Limit.of(rule));
    }

    /** Retries however small the chance is, whatever the layers beneath say. */
    public RetryPolicy neverGiveUp() {
        return with(fields -> fields.giveUpBelow = Limit.none());
    }

    /** The class of a failure no rule matches: TRANSIENT or PERMANENT. Unset everywhere means TRANSIENT. */
    public RetryPolicy unclassified(FailureClass failureClass) {
        return with(fields -> fields.unclassified(failureClass));
    }

    /** Adds a rule, to be asked after the rules added before it. */
    public RetryPolicy rule(Rule rule) {
        return with(fields -> fields.rules(RuleList.with(fields.rules, rule)));
    }

    /** The rules of layers beneath are not asked. */
    public RetryPolicy onlyTheseRules() {
        return with(fields -> fields.rulesOnly = true);
    }

    /** Retries these types and their subclasses, and nothing else: see {@link #retryOn(String...)}. */
    @SafeVarargs
    public final RetryPolicy retryOn(Class<? extends Throwable>... types) {
        String[] names = new String[types.length];
        for (int i = 0; i < types.length; i++) {
            names[i] = types[i].getName();
        }
        return retryOn(names);
    }

    /**
     * Retries only failures of these types and what other rules of this policy retry.
     *
     * <p>The default rules and those of layers beneath are not asked any more, and what matches no rule is PERMANENT,
     * unless {@link #unclassified} says otherwise.
     */
    public RetryPolicy retryOn(String... types) {
        return only(types, (name, type) -> Rule.ofTypes(name, FailureClass.TRANSIENT, type), "");
    }

    /** As {@link #retryOn(String...)}, by application error code. */
    public RetryPolicy retryOnCode(String... codes) {
        return only(codes, (name, code) -> Rule.ofCodes(name, FailureClass.TRANSIENT, code), "code ");
    }

    /** As {@link #retryOn(String...)}, by HTTP status. */
    public RetryPolicy retryOnStatus(Integer... statuses) {
        return only(statuses, (name, status) -> Rule.ofStatuses(name, FailureClass.TRANSIENT, status), "status ");
    }

    /** As {@link #retryOn(String...)}, by regular expression found in a message, ignoring case. */
    public RetryPolicy retryOnMessage(String... patterns) {
        return only(patterns, (name, text) -> Rule.ofMessages(name, FailureClass.TRANSIENT, text), "message ");
    }

    /** Never retries these types and their subclasses; asked before {@code retryOn}. */
    @SafeVarargs
    public final RetryPolicy neverRetryOn(Class<? extends Throwable>... types) {
        String[] names = new String[types.length];
        for (int i = 0; i < types.length; i++) {
            names[i] = types[i].getName();
        }
        return neverRetryOn(names);
    }

    public RetryPolicy neverRetryOn(String... types) {
        return never(types, (name, type) -> Rule.ofTypes(name, FailureClass.PERMANENT, type), "");
    }

    public RetryPolicy neverRetryOnCode(String... codes) {
        return never(codes, (name, code) -> Rule.ofCodes(name, FailureClass.PERMANENT, code), "code ");
    }

    public RetryPolicy neverRetryOnStatus(Integer... statuses) {
        return never(statuses, (name, status) -> Rule.ofStatuses(name, FailureClass.PERMANENT, status), "status ");
    }

    public RetryPolicy neverRetryOnMessage(String... patterns) {
        return never(patterns, (name, text) -> Rule.ofMessages(name, FailureClass.PERMANENT, text), "message ");
    }

    /** The curve, if this layer sets all of it. */
    public Optional<Backoff> backoff() {
        return Optional.ofNullable(fields.backoff());
    }

    public Optional<Duration> base() {
        return Optional.ofNullable(fields.base);
    }

    public Optional<Double> factor() {
        return Optional.ofNullable(fields.factor);
    }

    public Optional<Integer> offset() {
        return Optional.ofNullable(fields.offset);
    }

    public Limit<Duration> cap() {
        return fields.cap;
    }

    public Optional<Duration> minDelay() {
        return Optional.ofNullable(fields.minDelay);
    }

    public Optional<Jitter> jitter() {
        return Optional.ofNullable(fields.jitter);
    }

    public Optional<CapOrder> capOrder() {
        return Optional.ofNullable(fields.capOrder);
    }

    public Optional<Rounding> rounding() {
        return Optional.ofNullable(fields.rounding);
    }

    public Limit<Integer> maxAttempts() {
        return fields.maxAttempts;
    }

    public Limit<Duration> deadline() {
        return fields.deadline;
    }

    public Optional<Duration> retryAfterCap() {
        return Optional.ofNullable(fields.retryAfterCap);
    }

    public Optional<Boolean> retryTimeouts() {
        return Optional.ofNullable(fields.retryTimeouts);
    }

    public Optional<FailureClass> unclassified() {
        return Optional.ofNullable(fields.unclassified);
    }

    public List<Rule> rules() {
        return fields.rules;
    }

    /** Whether rules of layers beneath are left out. */
    public boolean rulesOnly() {
        return fields.rulesOnly;
    }

    public Optional<LossRule> losses() {
        return Optional.ofNullable(fields.losses);
    }

    public Limit<GiveUp> giveUpBelow() {
        return fields.giveUpBelow;
    }

    /** Whether a kind of backoff is set here, with or without its numbers. */
    boolean setsBackoff() {
        return fields.kind != null;
    }

    /** This policy with every field set: what is unset comes from {@link #DEFAULT}. */
    public RetryPolicy complete() {
        RetryPolicy known = complete;
        if (known == null) {
            known = orElse(DEFAULT);
            complete = known;
        }
        return known;
    }

    /** The delay before retry number {@code retry}, counted from 1, with its value before jitter. */
    public Delay draw(int retry, @Nullable Duration lastDelay, RandomGenerator random) {
        return model().draw(retry, lastDelay, random);
    }

    /** The delay before retry number {@code retry}, counted from 1. */
    public Duration delay(int retry, @Nullable Duration lastDelay, RandomGenerator random) {
        return draw(retry, lastDelay, random).value();
    }

    /** Finds the class of a failure: given, then {@link NonRetryable}, then the rules in order, then the fallback. */
    public Classification classify(Failure failure) {
        return Classifier.classify(complete(), failure);
    }

    /** Decides what follows a failed attempt. A lost lease decided here is taken to have been running alone. */
    public Decision decide(Failure failure, History history, RandomGenerator random) {
        return decide(failure, history, null, random);
    }

    /** The same, knowing how the next attempt is likely to end. Only {@link #giveUpBelow} acts on that. */
    public Decision decide(Failure failure, History history, @Nullable Prediction prediction, RandomGenerator random) {
        return new Decider(complete(), history, prediction, random).afterFailure(failure);
    }

    /**
     * Decides what follows a lost lease.
     *
     * @param alone whether no other job ran under the same worker when it was lost; otherwise the job may be innocent,
     *     so it is not quarantined but comes back, to be run alone
     */
    public Decision decideLoss(Failure failure, History history, boolean alone, RandomGenerator random) {
        return new Decider(complete(), history, null, random).afterLoss(alone);
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
        PolicyChecks.together(fields, changed);
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
