// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import io.reprise.JobSpec;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as stored. The store does not understand {@code rule}: the engine parses it.
 *
 * @param rule text form of when it fires
 * @param job what each firing enqueues
 * @param nextAt when it fires next
 * @param lastJob what the latest firing enqueued
 */
public record StoredSchedule(
        String name,
        String rule,
        JobSpec job,
        boolean paused,
        Instant nextAt,
        @Nullable JobId lastJob) {}
