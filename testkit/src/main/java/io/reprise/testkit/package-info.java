// SPDX-License-Identifier: Apache-2.0
/**
 * What every store must pass: a test class implements {@link io.reprise.testkit.JobStoreContract} and supplies an empty
 * store. The suite neither sleeps nor asserts on durations, so it runs as well on a database whose clock cannot be moved.
 * {@link io.reprise.testkit.RecoveryContract} runs a worker with threads on the store.
 * {@link io.reprise.testkit.PostgresServer} is a real PostgreSQL for a test's lifetime.
 */
@NullMarked
package io.reprise.testkit;

import org.jspecify.annotations.NullMarked;
