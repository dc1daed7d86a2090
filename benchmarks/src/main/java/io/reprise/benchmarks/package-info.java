// SPDX-License-Identifier: Apache-2.0
/**
 * Reprise measured beside other queues and beside what the database itself can do. {@link io.reprise.benchmarks.Main} is
 * the command; each measurement runs in a JVM of its own, see {@link io.reprise.benchmarks.Trial}.
 */
@NullMarked
package io.reprise.benchmarks;

import org.jspecify.annotations.NullMarked;
