// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.reprise.insight.JobEvent;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The meters of one combination of type, queue and resource. Each meter is created when it is first needed.
 * Thread-safe.
 */
final class MeterTarget {

    /** Attempts with this number or a greater one share a label. */
    private static final int MANY = 10;

    /** Reasons for which a job failed for good although its error is one that is retried. */
    private static final Set<FailReason> EXHAUSTED =
            EnumSet.of(FailReason.EXHAUSTED, FailReason.DEADLINE, FailReason.HOPELESS);

    private static final Duration[] WAITS = {
        Duration.ofMillis(10),
        Duration.ofMillis(100),
        Duration.ofSeconds(1),
        Duration.ofSeconds(10),
        Duration.ofMinutes(1),
        Duration.ofMinutes(10),
        Duration.ofHours(1)
    };

    private record Key(String name, String tag, String value) {}

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Key, Counter> counters = new ConcurrentHashMap<>();
    private final Map<Key, Timer> timers = new ConcurrentHashMap<>();

    MeterTarget(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
    }

    void succeeded(JobEvent event) {
        ended(event, "succeeded");
        counter("reprise.succeeded", "attempt", number(event.attempt())).increment();
        if (event.firstFailedAt() != null) {
            timer("reprise.recovery", "attempt", number(event.attempt()))
                    .record(Duration.between(event.firstFailedAt(), event.at()));
        }
    }

    /** Counts how long the job waited after it was due, and for a first attempt since it was first due. */
    void started(JobEvent event) {
        if (event.dueAt() != null) {
            wait("reprise.wait").record(notNegative(Duration.between(event.dueAt(), event.at())));
        }
        if (event.attempt() == 1) {
            wait("reprise.first.attempt").record(notNegative(Duration.between(event.firstDueAt(), event.at())));
        }
    }

    private static Duration notNegative(Duration duration) {
        return duration.isNegative() ? Duration.ZERO : duration;
    }

    /** With a few fixed buckets: each bucket is a series for each set of labels. */
    private Timer wait(String name) {
        return timers.computeIfAbsent(
                new Key(name, "", ""),
                key -> Timer.builder(key.name)
                        .tags(tags)
                        .serviceLevelObjectives(WAITS)
                        .register(registry));
    }

    void retried(JobEvent event) {
        ended(event, "failed");
        if (event.decision() instanceof Decision.Retry retry) {
            counter("retries", "class", retry.failureClass().name()).increment();
            timer("retry.latency", "class", retry.failureClass().name()).record(retry.delay());
        }
    }

    void failed(JobEvent event) {
        ended(event, "failed");
        String reason =
                event.decision() instanceof Decision.Fail fail ? fail.reason().name() : "DEADLINE";
        counter("reprise.failed", "reason", reason).increment();
        if (EXHAUSTED.stream().anyMatch(each -> each.name().equals(reason))) {
            counter("retry.exhausted", "reason", reason).increment();
        }
    }

    /** A job that was cancelled before it ran has no run to count. */
    void cancelled(JobEvent event) {
        ended(event, "cancelled");
    }

    void count(String name) {
        counter(name, "", "").increment();
    }

    private void ended(JobEvent event, String outcome) {
        if (event.ran() != null) {
            timer("reprise.run", "outcome", outcome).record(event.ran());
        }
    }

    private Counter counter(String name, String tag, String value) {
        return counters.computeIfAbsent(new Key(name, tag, value), key -> registry.counter(key.name, tagsOf(key)));
    }

    private Timer timer(String name, String tag, String value) {
        return timers.computeIfAbsent(new Key(name, tag, value), key -> registry.timer(key.name, tagsOf(key)));
    }

    private Tags tagsOf(Key key) {
        return key.tag.isEmpty() ? tags : tags.and(key.tag, key.value);
    }

    private static String number(int attempt) {
        return attempt < MANY ? Integer.toString(attempt) : MANY + "+";
    }
}
