// SPDX-License-Identifier: Apache-2.0
/** Workloads of jobs that wait for other jobs. */
@NullMarked
package io.reprise.benchmarks.steps;

import org.jspecify.annotations.NullMarked;
