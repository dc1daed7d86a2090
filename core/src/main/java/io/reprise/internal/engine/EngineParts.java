// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import io.reprise.PayloadCodec;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.run.HandlerEnqueuer;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.internal.run.Handlers;
import io.reprise.internal.run.Interceptors;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.internal.settle.RunTotals;
import io.reprise.store.JobStore;
import java.util.random.RandomGenerator;

/**
 * The objects that all roles of one engine share: store, driver, clock, events, control and so on. {@link Engine}
 * creates it once in its constructor; each role takes the parts that it needs.
 */
public record EngineParts(
        JobStore store,
        WorkerSettings settings,
        Handlers handlers,
        Interceptors interceptors,
        PayloadCodec codec,
        Driver driver,
        HandlerExecutor executor,
        StoreClock clock,
        Events events,
        FollowUps followUps,
        HandlerEnqueuer enqueuer,
        RunTotals totals,
        LocalControl control,
        UnhandledTypes unhandled,
        LiveSettings live,
        RandomGenerator random) {}
