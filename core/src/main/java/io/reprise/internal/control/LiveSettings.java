// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.store.DocumentStore;
import io.reprise.store.StoreException;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fleet's settings as this process knows them: those of the store above those of a file. A role refreshes them; a
 * process without roles refreshes them when it enqueues. Reading them never waits. Thread-safe.
 */
public final class LiveSettings {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    /** Settings, the version of the document that they come from, and how many changes came before. */
    private record State(long version, long changes, FleetSettings settings) {}

    private final @Nullable SettingsBook book;
    private final FleetSettings below;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile State state;

    /** Policies of the code that warnings are about, by what they are of. */
    private volatile Map<String, RetryPolicy> running = Map.of();

    /** Gets the settings that apply from now on. */
    private volatile Consumer<FleetSettings> listener = settings -> {};

    /** Whether the last read failed. Guarded by {@link #lock}. */
    private boolean unreadable;

    private LiveSettings(@Nullable SettingsBook book, FleetSettings below) {
        this.book = book;
        this.below = below;
        this.state = new State(0, 0, below);
    }

    /** Creates settings of a store. They are as in the file until the first refresh. */
    public static LiveSettings of(DocumentStore store, FleetSettings below) {
        return new LiveSettings(new SettingsBook(store), below);
    }

    /** Creates settings that never change. */
    public static LiveSettings fixed(FleetSettings settings) {
        return new LiveSettings(null, settings);
    }

    /** Names the policies of the code, and warns of those that a ceiling cuts. */
    public void warnsOf(Map<String, RetryPolicy> policies) {
        running = Map.copyOf(policies);
        warn(state.settings);
    }

    /** Tells a listener of the settings now, and of every change. It is called by the thread that reads them. */
    public void onChange(Consumer<FleetSettings> told) {
        listener = told;
        told.accept(state.settings);
    }

    private void warn(FleetSettings settings) {
        settings.warnings(running).forEach(warning -> log.warn("{}", warning));
    }

    public FleetSettings now() {
        return state.settings;
    }

    /** Returns a number that is different after each change. */
    public long changes() {
        return state.changes;
    }

    /**
     * Reads the store, unless another thread does so. Settings that cannot be read leave the old ones in force: while a
     * fleet is upgraded, the table of documents may not be there yet.
     */
    public void refresh() {
        if (book == null || !lock.tryLock()) {
            return;
        }
        try {
            long version = book.version();
            if (version != state.version) {
                take(version);
            }
            unreadable = false;
        } catch (StoreException e) {
            if (!unreadable) {
                log.warn("Settings of the fleet cannot be read; the settings before go on: {}", e.getMessage());
            }
            unreadable = true;
        } finally {
            lock.unlock();
        }
    }

    private void take(long version) {
        State before = state;
        try {
            SettingsBook.Page page = book == null ? null : book.read();
            if (page != null) {
                state = new State(
                        page.version(), before.changes + 1, page.settings().orElse(below));
                log.info("Settings of the fleet: version {} applies", page.version());
                listener.accept(state.settings);
                if (!running.isEmpty()) {
                    warn(state.settings);
                }
            }
        } catch (IllegalArgumentException e) {
            state = new State(version, before.changes, before.settings);
            log.error(
                    "Settings of the fleet, version {}, cannot be read; the settings before go on: {}",
                    version,
                    e.getMessage());
        }
    }
}
