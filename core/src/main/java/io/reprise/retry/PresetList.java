// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static io.reprise.failure.FailureClass.PERMANENT;
import static io.reprise.failure.FailureClass.TRANSIENT;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import io.reprise.failure.Rule;
import io.reprise.retry.Presets.Preset;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The policies of OmniQ, Stent, weave-queue, a MongoDB micro-queue and Conduit, with their exact numbers. */
final class PresetList {

    private static final int UNLIMITED_LOSSES = 5;

    private PresetList() {}

    static void addTo(Map<String, Preset> all) {
        omniq(all);
        stent(all);
        weave(all);
        mongo(all);
        conduit(all);
    }

    private static void omniq(Map<String, Preset> all) {
        RetryPolicy omniq =
                counted(exponential(ofSeconds(1), 2, 0, ofSeconds(60)).jitter(Jitter.proportional(0.25)), 4);
        put(all, "omniq", "OmniQ as documented: 1 s doubling to 60 s, then 25 % either way, 3 retries", omniq);
        put(
                all,
                "omniq-claim-budget",
                "OmniQ as its code counts: max_retries 3 is the number of runs",
                counted(omniq, 3));
        put(
                all,
                "omniq-unlimited",
                "OmniQ with max_retries None: never gives up",
                omniq.unlimited().losses(new LossRule(true, true, UNLIMITED_LOSSES)));
        put(
                all,
                "omniq-linear",
                "OmniQ with the linear override: 5 s more each time to 300 s, no jitter",
                omniq.backoff(new Backoff.Linear(ofSeconds(5)))
                        .cap(ofSeconds(300))
                        .jitter(Jitter.none()));
        put(all, "omniq-network", "OmniQ advice for network calls: 5 retries", counted(omniq, 6));
        put(all, "omniq-database", "OmniQ advice for databases: 2 retries", counted(omniq, 3));
        put(all, "omniq-file", "OmniQ advice for files: 1 retry", counted(omniq, 2));
    }

    private static void stent(Map<String, Preset> all) {
        RetryPolicy stent = exponential(ofSeconds(1), 2, 0, ofSeconds(60))
                .jitter(Jitter.proportional(0.1))
                .maxAttempts(3)
                .losses(LossRule.DEFAULT);
        put(all, "stent", "Stent defaults: 1 s doubling to 60 s, 10 % either way, 3 attempts", stent);
        put(
                all,
                "stent-aggressive",
                "Stent, many short retries: 0.5 s by 1.5 to 30 s, 20 %, 10 attempts",
                stent.backoff(new Backoff.Exponential(ofMillis(500), 1.5, 0))
                        .cap(ofSeconds(30))
                        .jitter(Jitter.proportional(0.2))
                        .maxAttempts(10));
        put(
                all,
                "stent-batch",
                "Stent, patient batch: 60 s by 3 to 1 h, 30 %, 3 attempts",
                stent.backoff(new Backoff.Exponential(ofSeconds(60), 3, 0))
                        .cap(ofSeconds(3600))
                        .jitter(Jitter.proportional(0.3)));
        put(
                all,
                "stent-selective",
                "Stent, only network, timeout and I/O errors, 5 attempts",
                rules(stent.maxAttempts(5).unclassified(PERMANENT), PresetRules.stentSelective()));
        put(
                all,
                "stent-network",
                "Stent, only network errors: 0.5 s doubling, 5 attempts",
                rules(stent.base(ofMillis(500)).maxAttempts(5).unclassified(PERMANENT), PresetRules.stentNetwork()));
        put(
                all,
                "stent-external-api",
                "Stent, rate-limited service: 5 s by 3, 3 attempts",
                stent.backoff(new Backoff.Exponential(ofSeconds(5), 3, 0)));
    }

    private static void weave(Map<String, Preset> all) {
        RetryPolicy formula = counted(
                exponential(ofMillis(500), 2, 1, ofSeconds(30))
                        .jitter(Jitter.full())
                        .rounding(Rounding.MILLIS),
                4);
        RetryPolicy doubling = formula.offset(0);
        List<Duration> table = List.of(
                ofMillis(500), ofMillis(1000), ofMillis(2000), ofMillis(4000), ofMillis(8000), ofMillis(30_000));
        put(
                all,
                "weave",
                "weave-queue by its table: 0.5, 1, 2, 4, 8, then 30 s, full jitter, 3 retries",
                formula.backoff(new Backoff.Table(table)).noCap());
        put(all, "weave-formula", "weave-queue by its formula: first delay 1 s", formula);
        put(all, "weave-doubling", "weave-queue by plain doubling: first delay 0.5 s, 16 s sixth", doubling);
        put(all, "weave-code", "weave-queue by its code: the formula without jitter", formula.jitter(Jitter.none()));
        put(
                all,
                "weave-conservative",
                "weave-queue, conservative: 1 s to 60 s, 5 retries",
                counted(doubling.base(ofSeconds(1)).cap(ofSeconds(60)), 6));
        put(
                all,
                "weave-aggressive",
                "weave-queue, low latency: 0.1 s to 5 s, 2 retries",
                counted(doubling.base(ofMillis(100)).cap(ofSeconds(5)), 3));
    }

    private static void mongo(Map<String, Preset> all) {
        RetryPolicy mongo = exponential(ofSeconds(5), 2, 0, ofSeconds(1800))
                .jitter(Jitter.full())
                .failAfterMoreThan(10)
                .losses(new LossRule(true, false, 11));
        put(all, "mongo", "MongoDB micro-queue: 5 s to 30 min, full jitter, fails after more than 10", mongo);
        put(all, "mongo-none", "MongoDB micro-queue without jitter", mongo.jitter(Jitter.none()));
        put(
                all,
                "mongo-decorrelated",
                "MongoDB micro-queue with what it calls decorrelated: base to raw",
                mongo.jitter(Jitter.baseToRaw()));
    }

    private static void conduit(Map<String, Preset> all) {
        RetryPolicy service = counted(
                rules(
                        exponential(ofSeconds(30), 2, 0, ofSeconds(3600))
                                .jitter(Jitter.proportional(0.2))
                                .unclassified(PERMANENT),
                        PresetRules.conduit()),
                4);
        put(
                all,
                "conduit",
                "Conduit video: 30 s to 1 h, 20 % before the cap, whole seconds, known errors only",
                service.capOrder(CapOrder.JITTER_THEN_CAP).rounding(Rounding.FLOOR_SECONDS));
        put(all, "conduit-service", "Conduit as its task service stores it: cap before jitter", service);
        put(
                all,
                "conduit-service-doc",
                "Conduit task service as documented: neither cap nor jitter",
                service.noCap().jitter(Jitter.none()));
        put(
                all,
                "conduit-image",
                "Conduit images: cap before jitter, whole seconds, at least 1 s",
                service.rounding(Rounding.FLOOR_SECONDS).minDelay(ofSeconds(1)));
        put(
                all,
                "conduit-webhook",
                "Conduit webhooks: 2, 4, 8 s",
                exponential(ofSeconds(1), 2, 1, ofSeconds(1))
                        .noCap()
                        .jitter(Jitter.none())
                        .maxRetries(3)
                        .losses(LossRule.DEFAULT));
    }

    /**
     * The fields that all these systems share: cap before jitter, no deadline, unknown errors retried, only their own
     * rules.
     */
    private static RetryPolicy exponential(Duration base, double factor, int offset, Duration cap) {
        return RetryPolicy.unset()
                .backoff(new Backoff.Exponential(base, factor, offset))
                .cap(cap)
                .minDelay(Duration.ZERO)
                .capOrder(CapOrder.CAP_THEN_JITTER)
                .rounding(Rounding.NONE)
                .noDeadline()
                .retryAfterCap(Duration.ofHours(1))
                .retryTimeouts(true)
                .unclassified(TRANSIENT)
                .onlyTheseRules();
    }

    /** A policy of a system in which a loss spends an attempt, so that the number of attempts limits the losses. */
    private static RetryPolicy counted(RetryPolicy policy, int maxAttempts) {
        return policy.maxAttempts(maxAttempts).losses(new LossRule(true, true, maxAttempts));
    }

    private static RetryPolicy rules(RetryPolicy policy, List<Rule> rules) {
        RetryPolicy with = policy;
        for (Rule rule : rules) {
            with = with.rule(rule);
        }
        return with;
    }

    private static void put(Map<String, Preset> all, String name, String description, RetryPolicy policy) {
        all.put(name, new Preset(description, policy));
    }
}
