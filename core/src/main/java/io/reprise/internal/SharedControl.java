// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.ControlEvent;
import io.reprise.ControlEvent.Kind;
import io.reprise.control.Breaker;
import io.reprise.control.ControlKey;
import io.reprise.control.RetryBudget;
import io.reprise.store.ControlRow;
import io.reprise.store.JobStore;
import io.reprise.store.Note;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The fleet's breakers and budgets as the store last showed them, and the way to change them: read, compute, store unless
 * another was first, read again. Not thread-safe; whoever needs it has their own.
 */
final class SharedControl {

    private static final int TRIES = 5;

    private final JobStore store;
    private final ControlRules rules;
    private final Events events;
    private final Map<String, ControlRow> rows = new HashMap<>();
    private final Map<String, Breaker> breakers = new HashMap<>();
    private final Map<ControlKey, RetryBudget> budgets = new HashMap<>();

    SharedControl(JobStore store, ControlRules rules, Events events) {
        this.store = store;
        this.rules = rules;
        this.events = events;
    }

    void read(Instant now) {
        rows.clear();
        breakers.clear();
        budgets.clear();
        for (ControlRow row : store.controls()) {
            keep(row, now);
        }
    }

    private void keep(ControlRow row, Instant now) {
        rows.put(row.name(), row);
        ControlKey.parse(row.name()).ifPresent(key -> {
            if (key.kind() == ControlKey.Kind.BREAKER) {
                breakers.put(key.subject(), Breaker.parse(row.state(), now));
            } else {
                budgets.put(key, RetryBudget.parse(row.state(), now));
            }
        });
    }

    Map<String, Breaker> breakers() {
        return breakers;
    }

    Map<ControlKey, RetryBudget> budgets() {
        return budgets;
    }

    /** By whom, if by hand. */
    record Hand(String action, Note note) {}

    /** The breaker after the change; empty if others were first time after time, and nothing was changed. */
    Optional<Breaker> change(String resource, Instant now, UnaryOperator<Breaker> change, @Nullable Hand hand) {
        ControlKey key = ControlKey.breaker(resource);
        for (int tries = 0; tries < TRIES; tries++) {
            Breaker before = breakers.getOrDefault(resource, Breaker.closed(now));
            Breaker after = change.apply(before);
            if (put(key, after.text(), now, hand)) {
                tell(resource, before, after, now);
                return Optional.of(after);
            }
            read(now);
        }
        return Optional.empty();
    }

    /** The budget after the change; empty as above. */
    Optional<RetryBudget> change(ControlKey key, Instant now, UnaryOperator<RetryBudget> change) {
        for (int tries = 0; tries < TRIES; tries++) {
            RetryBudget before = budgets.getOrDefault(key, RetryBudget.full(rules.budget(key), now));
            RetryBudget after = change.apply(before);
            if (put(key, after.text(), now, null)) {
                if (after.grants() == 0 && before.grants() > 0) {
                    events.control(new ControlEvent(emptied(key), key.subject(), now, "retries wait for successes"));
                }
                return Optional.of(after);
            }
            read(now);
        }
        return Optional.empty();
    }

    private boolean put(ControlKey key, String state, Instant now, @Nullable Hand hand) {
        ControlRow known = rows.get(key.text());
        if (known != null && known.state().equals(state)) {
            return true;
        }
        ControlRow row = new ControlRow(key.text(), known == null ? 0 : known.version(), state);
        OptionalLong version = hand == null ? store.putControl(row) : store.putControl(row, hand.action, hand.note);
        version.ifPresent(number -> keep(new ControlRow(row.name(), number, state), now));
        return version.isPresent();
    }

    /** Forgets what says no more than nothing would. */
    void remove(ControlKey key) {
        ControlRow known = rows.get(key.text());
        if (known != null && store.removeControl(known.name(), known.version())) {
            rows.remove(key.text());
            budgets.remove(key);
            if (key.kind() == ControlKey.Kind.BREAKER) {
                breakers.remove(key.subject());
            }
        }
    }

    private void tell(String resource, Breaker before, Breaker after, Instant now) {
        if (before.phase() != after.phase()) {
            Kind kind = switch (after.phase()) {
                case OPEN -> Kind.BREAKER_OPENED;
                case HALF_OPEN -> Kind.BREAKER_HALF_OPENED;
                case RAMPING -> Kind.BREAKER_RAMPING;
                case CLOSED -> Kind.BREAKER_CLOSED;
            };
            events.control(new ControlEvent(kind, resource, now, after.why()));
        }
    }

    private static Kind emptied(ControlKey key) {
        return switch (key.kind()) {
            case RESOURCE_BUDGET -> Kind.RESOURCE_BUDGET_EMPTIED;
            case QUEUE_BUDGET -> Kind.QUEUE_BUDGET_EMPTIED;
            case BUDGET, BREAKER -> Kind.BUDGET_EMPTIED;
        };
    }
}
