// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads of background work beside a running queue.
 */
@NullMarked
package io.reprise.benchmarks.upkeep;

import org.jspecify.annotations.NullMarked;
