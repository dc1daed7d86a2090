// SPDX-License-Identifier: Apache-2.0
/**
 * Ends runs. {@link io.reprise.internal.settle.OutcomeDecider} decides, {@link io.reprise.internal.settle.Committer}
 * writes, {@link io.reprise.internal.settle.Events} tells the listeners.
 */
@NullMarked
package io.reprise.internal.settle;

import org.jspecify.annotations.NullMarked;
