// SPDX-License-Identifier: Apache-2.0
/** Workloads about fair turns and limits: whether a noisy neighbour disturbs others, and what fairness costs. */
@NullMarked
package io.reprise.benchmarks.fairness;

import org.jspecify.annotations.NullMarked;
