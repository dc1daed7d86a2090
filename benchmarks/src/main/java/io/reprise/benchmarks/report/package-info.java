// SPDX-License-Identifier: Apache-2.0
/**
 * Figures, tables and plots.
 */
@NullMarked
package io.reprise.benchmarks.report;

import org.jspecify.annotations.NullMarked;
