// SPDX-License-Identifier: Apache-2.0
/**
 * Measures Reprise beside other queues and the plain database. {@link io.reprise.benchmarks.Main} is the command; each
 * measurement runs in its own JVM, see {@link io.reprise.benchmarks.workload.Trial}.
 */
@NullMarked
package io.reprise.benchmarks;

import org.jspecify.annotations.NullMarked;
