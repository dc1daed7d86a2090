// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of every store: a test class implements {@link io.reprise.testkit.contract.JobStoreContract} and
 * supplies an empty store. The tests neither sleep nor assert on durations, so they also run on a database whose clock
 * cannot be moved. {@link io.reprise.testkit.contract.RecoveryContract} runs a worker with threads on the store.
 */
@NullMarked
package io.reprise.testkit.contract;

import org.jspecify.annotations.NullMarked;
