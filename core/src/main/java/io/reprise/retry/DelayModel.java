// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The delay arithmetic of one complete policy, in nanoseconds. Drawing and planning share it, so they agree. */
final class DelayModel {

    private final Backoff backoff;
    private final Jitter jitter;
    private final CapOrder order;
    private final Rounding rounding;
    private final long base;
    private final long cap;
    private final long floor;

    DelayModel(RetryPolicy complete) {
        backoff = complete.backoff().orElseThrow();
        jitter = complete.jitter().orElseThrow();
        order = complete.capOrder().orElseThrow();
        rounding = complete.rounding().orElseThrow();
        base = base(backoff);
        cap = complete.cap().toOptional().map(Bounds::nanos).orElse(Bounds.MAX_NANOS);
        // Layers can combine to a minimum above the cap. Then the cap wins, because people rely on it.
        floor = Math.min(Bounds.nanos(complete.minDelay().orElseThrow()), cap);
    }

    private static long base(Backoff backoff) {
        return Bounds.nanos(backoff instanceof Backoff.Exponential exponential ? exponential.base() : backoff.raw(1));
    }

    long base() {
        return base;
    }

    long cap() {
        return cap;
    }

    /** The delay of this retry without jitter. Decorrelated jitter has no curve: its longest delay is returned. */
    long raw(int retry, long last) {
        long curve = jitter instanceof Jitter.Decorrelated ? range(retry, last).max() : curve(retry);
        return Math.min(curve, cap);
    }

    /** The range that the delay is drawn from, before the steps of {@link #settle}. */
    DelayRange range(int retry, long last) {
        if (order == CapOrder.JITTER_THEN_CAP) {
            return DelayRange.of(jitter, curve(retry), base, last);
        }
        DelayRange range = DelayRange.of(jitter, Math.min(curve(retry), cap), base, last);
        // Only a spread around the capped delay may exceed the cap. The other kinds start from a base or a last delay
        // that is not capped yet.
        boolean mayExceed = order == CapOrder.CAP_THEN_JITTER && jitter instanceof Jitter.Proportional;
        return mayExceed ? range : range.cutAt(cap);
    }

    long settle(long drawn) {
        return Math.max(floor, rounding.round(Math.min(drawn, ceiling())));
    }

    long mean(DelayRange range) {
        return range.min() == range.max() ? settle(range.min()) : range.mean(floor, ceiling());
    }

    long last(@Nullable Duration lastDelay) {
        return lastDelay == null ? base : Bounds.nanos(lastDelay);
    }

    Delay draw(int retry, @Nullable Duration lastDelay, RandomGenerator random) {
        long last = last(lastDelay);
        long value = settle(range(retry, last).draw(random));
        return new Delay(Duration.ofNanos(raw(retry, last)), Duration.ofNanos(value));
    }

    private long curve(int retry) {
        return Bounds.nanos(backoff.raw(retry));
    }

    private long ceiling() {
        return order == CapOrder.JITTER_THEN_CAP ? cap : Bounds.MAX_NANOS;
    }
}
