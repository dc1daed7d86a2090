// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads of the queue itself. Each measurement is one {@link io.reprise.benchmarks.workload.Trial} in its own JVM.
 */
@NullMarked
package io.reprise.benchmarks.workload;

import org.jspecify.annotations.NullMarked;
