// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.PayloadCodec;
import io.reprise.store.JobStore;
import java.util.random.RandomGenerator;

/** The objects that all roles of one engine share. {@link Engine} creates it once. */
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
