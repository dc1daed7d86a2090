// SPDX-License-Identifier: Apache-2.0
/**
 * The interface between the engine and a database: {@link io.reprise.store.JobStore} and the records that it takes and
 * returns.
 *
 * <p>A user chooses a store and does not call it. The author of a store finds here what must be atomic, what is
 * compared, and what to return when a race is lost. The contract suite of the testkit ({@code JobStoreContract}) proves
 * a store. The clock of the store decides every due time and every lease. No argument may be null unless it is marked
 * {@code @Nullable}.
 *
 * <p><b>Changes of this interface.</b> Before version 1.0, a minor version may change or remove anything here; the
 * changelog says so. From version 1.0 on, a new method has a default for at least one minor version, so that a store
 * compiles and works without it. A method is removed only in a major version, after it was deprecated for at least one
 * minor version.
 */
@NullMarked
package io.reprise.store;

import org.jspecify.annotations.NullMarked;
