// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.PayloadCodec;
import io.reprise.store.JobStore;
import java.util.random.RandomGenerator;

/**
 * The objects that all roles of one engine share: store, driver, clock, events, control and so on. {@link Engine}
 * creates it once in its constructor; each role takes the parts that it needs.
 */
record EngineParts(
        JobStore store,
        WorkerSettings settings,
        Handlers handlers,
        PayloadCodec codec,
        Driver driver,
        Bench bench,
        StoreClock clock,
        Events events,
        Outbox outbox,
        Tallies tallies,
        Control control,
        UnhandledTypes unhandled,
        RandomGenerator random) {}
