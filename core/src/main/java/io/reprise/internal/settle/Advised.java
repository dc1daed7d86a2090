// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.retry.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The decision about one run after an advisor was asked.
 *
 * @param decision the decision to settle; null if the job is cancelled
 * @param overruled whether the decision is the advisor's and not the policy's
 */
public record Advised(@Nullable Decision decision, boolean overruled) {}
