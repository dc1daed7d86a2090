// SPDX-License-Identifier: Apache-2.0
/**
 * The seam between the engine and a database: {@link io.reprise.store.JobStore} and the records it takes and returns.
 * Users choose a store and never call it; implementers find here what must be atomic, and prove it with the contract
 * suite of the testkit. The store's clock rules every due time and lease.
 */
@NullMarked
package io.reprise.store;

import org.jspecify.annotations.NullMarked;
