// SPDX-License-Identifier: Apache-2.0
/** The contract of steps, a part of {@link io.reprise.testkit.contract.JobStoreContract}. */
@NullMarked
package io.reprise.testkit.steps;

import org.jspecify.annotations.NullMarked;
