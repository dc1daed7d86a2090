// SPDX-License-Identifier: Apache-2.0
/**
 * The systems that are measured: Reprise, other queues, and the plain database.
 */
@NullMarked
package io.reprise.benchmarks.system;

import org.jspecify.annotations.NullMarked;
