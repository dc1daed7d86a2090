// SPDX-License-Identifier: Apache-2.0
/** The contract of batches and joins, a part of {@link io.reprise.testkit.contract.JobStoreContract}. */
@NullMarked
package io.reprise.testkit.batches;

import org.jspecify.annotations.NullMarked;
