// SPDX-License-Identifier: Apache-2.0
/**
 * The parts that every measurement needs: the place of a database, processes, CPU time, and statistics.
 */
@NullMarked
package io.reprise.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
