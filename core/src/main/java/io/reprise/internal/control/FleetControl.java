// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.ControlKey;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.ControlEvent.Kind;
import io.reprise.internal.settle.Events;
import io.reprise.job.AuditNote;
import io.reprise.store.ControlRow;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The stored breakers and budgets of the fleet, and the way to change them: read, compute, compare and set, and
 * read again if another worker was first. It reads only changed rows and writes many changes in one call, so
 * thousands of resources in trouble cost few calls. The {@link ControlSync} keeps one; the {@link ControlOperations} creates
 * one per call. Not thread-safe.
 */
final class FleetControl {

    private static final int TRIES = 5;

    /** Rows in one call. The next call follows at once. */
    private static final int BUNDLE = 1_000;

    /**
     * A change may become visible after one with a greater version. So each read begins at a
     * version from this long ago.
     */
    private static final Duration LOOK_BACK = Duration.ofSeconds(2);

    /**
     * How often all rows are read, to find rows that were removed. A removed row means the
     * default, so this is not urgent.
     */
    private static final Duration READ_ALL = Duration.ofSeconds(5);

    /** Reading all rows is limited to a hundred rows per second on average, for the same reason. */
    private static final Duration READ_ALL_PER_ROW = Duration.ofMillis(10);

    private final JobStore store;
    private final ControlConfig rules;
    private final Events events;
    private final Supplier<Instant> clock;
    private final Map<String, ControlRow> rows = new HashMap<>();
    private final Map<String, Breaker> breakers = new HashMap<>();
    private final Map<ControlKey, RetryBudget> budgets = new HashMap<>();
    /** Monotonic times, because the store's clock may be set back. Null before the first read. */
    private @Nullable Long readAllNanos;

    private long readAllPauseNanos;
    /** The greatest version that was read. */
    private long newest;
    /** The version from which to read: {@code newest} as it was long enough ago, and at the mark after it. */
    private long from;

    private long mark;
    private long markedNanos;

    /**
     * Creates a view without any rows.
     *
     * @param clock time of the store. It is asked after each answer, because the process may have stood still meanwhile
     */
    FleetControl(JobStore store, ControlConfig rules, Events events, Supplier<Instant> clock) {
        this.store = store;
        this.rules = rules;
        this.events = events;
        this.clock = clock;
    }

    /** Computes the next state of a breaker or budget from the stored one and the time of the store. */
    interface Next<T> {
        T after(T stored, Instant now);
    }

    /**
     * Reads the changes, or all rows when it is time.
     *
     * @param nanos monotonic time of this machine
     */
    void read(long nanos) {
        if (readAllNanos == null) {
            markedNanos = nanos;
        }
        if (readAllNanos != null && nanos - readAllNanos < readAllPauseNanos) {
            found(store.controlsAfter(from));
        } else {
            readAll();
            readAllNanos = nanos;
        }
        if (nanos - markedNanos >= LOOK_BACK.toNanos()) {
            from = mark;
            mark = newest;
            markedNanos = nanos;
        }
    }

    private void readAll() {
        List<ControlRow> all = store.controls();
        Set<String> names = all.stream().map(ControlRow::name).collect(Collectors.toSet());
        forgetUnless(names, List.copyOf(rows.keySet()));
        found(all);
        readAllPauseNanos = Math.max(
                READ_ALL.toNanos(), READ_ALL_PER_ROW.multipliedBy(all.size()).toNanos());
    }

    private void readAgain(Collection<String> names) {
        List<ControlRow> there = store.controls(names);
        forgetUnless(there.stream().map(ControlRow::name).collect(Collectors.toSet()), names);
        found(there);
    }

    private void forgetUnless(Set<String> there, Collection<String> names) {
        names.stream().filter(name -> !there.contains(name)).forEach(this::forget);
    }

    private void found(List<ControlRow> read) {
        Instant now = clock.get();
        for (ControlRow row : read) {
            newest = Math.max(newest, row.version());
            ControlRow known = rows.get(row.name());
            if (known == null || known.version() != row.version()) {
                keep(row, now);
            }
        }
    }

    private void forget(String name) {
        rows.remove(name);
        ControlKey.parse(name).ifPresent(key -> {
            budgets.remove(key);
            if (key.kind() == ControlKey.Kind.BREAKER) {
                breakers.remove(key.subject());
            }
        });
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

    /** Returns resources whose breakers keep a rate, which this process may not know. */
    Set<String> rated() {
        return breakers.entrySet().stream()
                .filter(breaker -> breaker.getValue().isOfRate())
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    Map<ControlKey, RetryBudget> budgets() {
        return budgets;
    }

    /** An action by a person, for the audit log. */
    record Operator(String action, AuditNote note) {}

    /**
     * Changes a breaker on behalf of a person. Returns false if other writers were first {@code TRIES}
     * times; then nothing changed.
     */
    boolean change(String resource, Next<Breaker> change, Operator operator) {
        for (int tries = 0; tries < TRIES; tries++) {
            Instant now = clock.get();
            Breaker before = breakers.getOrDefault(resource, Breaker.closed(now));
            Breaker after = change.after(before, now);
            ControlRow row = row(ControlKey.breaker(resource), after.text());
            OptionalLong version =
                    row == null ? OptionalLong.of(0) : store.putControl(row, operator.action, operator.note);
            if (version.isPresent()) {
                tell(resource, before, after, now);
                return true;
            }
            readAgain(List.of(ControlKey.breaker(resource).text()));
        }
        return false;
    }

    /** Returns the row to store; null if the store holds this state already. */
    private @Nullable ControlRow row(ControlKey key, String state) {
        ControlRow known = rows.get(key.text());
        if (known != null && known.state().equals(state)) {
            return null;
        }
        return new ControlRow(key.text(), known == null ? 0 : known.version(), state);
    }

    /** Deletes control state that equals the default. */
    void remove(Collection<ControlKey> keys) {
        List<ControlRow> known = new ArrayList<>();
        for (ControlKey key : keys) {
            ControlRow row = rows.get(key.text());
            if (row != null) {
                known.add(row);
            }
        }
        for (int first = 0; first < known.size(); first += BUNDLE) {
            store.removeControls(known.subList(first, Math.min(known.size(), first + BUNDLE)))
                    .forEach(this::forget);
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

    private void tell(ControlKey key, RetryBudget before, RetryBudget after, Instant now) {
        if (after.grants() == 0 && before.grants() > 0) {
            boolean plain = rules.budget(key).rate() != null;
            String why = plain ? "retries wait until some of its period has passed" : "retries wait for successes";
            events.control(new ControlEvent(emptied(key), subject(key), now, why));
        }
    }

    /** Names the jobs of an owner by what their queues begin with. */
    private static String subject(ControlKey key) {
        boolean owned = key.kind() == ControlKey.Kind.BUDGET && !key.subject().isEmpty();
        return owned ? key.subject().substring(1) + "/" : key.subject();
    }

    private static Kind emptied(ControlKey key) {
        return switch (key.kind()) {
            case RESOURCE_BUDGET -> Kind.RESOURCE_BUDGET_EMPTIED;
            case QUEUE_BUDGET -> Kind.QUEUE_BUDGET_EMPTIED;
            case TYPE_BUDGET -> Kind.TYPE_BUDGET_EMPTIED;
            case BUDGET, BREAKER -> Kind.BUDGET_EMPTIED;
        };
    }

    Changes changes() {
        return new Changes();
    }

    /** Changes of many breakers and budgets, each once, that are written together. */
    final class Changes {

        private final List<Change<?>> all = new ArrayList<>();

        /**
         * Adds a change of a breaker.
         *
         * @param then receives the breaker after the change; empty if other writers were first {@code TRIES} times,
         *     or if the store failed
         */
        void breaker(String resource, Next<Breaker> change, Consumer<Optional<Breaker>> then) {
            all.add(new Change<>(
                    ControlKey.breaker(resource),
                    now -> breakers.getOrDefault(resource, Breaker.closed(now)),
                    change,
                    Breaker::text,
                    after -> breakers.put(resource, after),
                    (before, after, now) -> tell(resource, before, after, now),
                    then));
        }

        /**
         * Adds a change of a budget.
         *
         * @param then receives the budget after the change; empty if other writers were first {@code TRIES} times,
         *     or if the store failed
         */
        void budget(ControlKey key, Next<RetryBudget> change, Consumer<Optional<RetryBudget>> then) {
            all.add(new Change<>(
                    key,
                    now -> budgets.getOrDefault(key, RetryBudget.full(rules.budget(key), now)),
                    change,
                    RetryBudget::text,
                    after -> budgets.put(key, after),
                    (before, after, now) -> tell(key, before, after, now),
                    then));
        }

        /** Writes the changes. Each of them ends once, also if the store fails between two bundles. */
        void write() {
            try {
                List<Change<?>> open = all;
                for (int tries = 0; tries < TRIES && !open.isEmpty(); tries++) {
                    List<Change<?>> beaten = new ArrayList<>();
                    for (int first = 0; first < open.size(); first += BUNDLE) {
                        beaten.addAll(write(open.subList(first, Math.min(open.size(), first + BUNDLE))));
                    }
                    open = beaten;
                    if (!beaten.isEmpty()) {
                        readAgain(beaten.stream().map(c -> c.key.text()).toList());
                    }
                }
            } finally {
                all.forEach(Change::failUnlessDone);
            }
        }

        /** Writes these changes. Returns those for which another writer was first. */
        private List<Change<?>> write(List<Change<?>> some) {
            List<Change<?>> written = new ArrayList<>();
            List<ControlRow> bundle = new ArrayList<>();
            Instant now = clock.get();
            for (Change<?> change : some) {
                ControlRow row = row(change.key, change.compute(now));
                if (row == null) {
                    change.done(now);
                } else {
                    written.add(change);
                    bundle.add(row);
                }
            }
            List<OptionalLong> versions = bundle.isEmpty() ? List.of() : store.putControls(bundle);
            List<Change<?>> beaten = new ArrayList<>();
            for (int i = 0; i < bundle.size(); i++) {
                OptionalLong version = versions.get(i);
                if (version.isPresent()) {
                    ControlRow row = bundle.get(i);
                    rows.put(row.name(), new ControlRow(row.name(), version.getAsLong(), row.state()));
                    written.get(i).keep();
                    written.get(i).done(now);
                } else {
                    beaten.add(written.get(i));
                }
            }
            return beaten;
        }
    }

    private interface Told<T> {
        void tell(T before, T after, Instant now);
    }

    private static final class Change<T> {

        private final ControlKey key;
        private final Function<Instant, T> stored;
        private final Next<T> change;
        private final Function<T, String> text;
        private final Consumer<T> kept;
        private final Told<T> told;
        private final Consumer<Optional<T>> then;
        private @Nullable T before;
        private @Nullable T after;
        private boolean done;

        Change(
                ControlKey key,
                Function<Instant, T> stored,
                Next<T> change,
                Function<T, String> text,
                Consumer<T> kept,
                Told<T> told,
                Consumer<Optional<T>> then) {
            this.key = key;
            this.stored = stored;
            this.change = change;
            this.text = text;
            this.kept = kept;
            this.told = told;
            this.then = then;
        }

        String compute(Instant now) {
            T from = stored.apply(now);
            T to = change.after(from, now);
            before = from;
            after = to;
            return text.apply(to);
        }

        /** Keeps the state that was written, so that it need not be read from its text. */
        void keep() {
            if (after != null) {
                kept.accept(after);
            }
        }

        void done(Instant now) {
            T from = before;
            T to = after;
            if (from != null && to != null) {
                done = true;
                told.tell(from, to, now);
                then.accept(Optional.of(to));
            }
        }

        void failUnlessDone() {
            if (!done) {
                then.accept(Optional.empty());
            }
        }
    }
}
