// SPDX-License-Identifier: Apache-2.0
/** Runs TLC on the specification in {@code Lease.tla}. Entry point: {@link io.reprise.model.LeaseModelTest}. */
@org.jspecify.annotations.NullMarked
package io.reprise.model;
