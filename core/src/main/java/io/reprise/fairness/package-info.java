// SPDX-License-Identifier: Apache-2.0
/** How the groups of a queue share it. Invariant: pure data without clock, threads or I/O. */
@NullMarked
package io.reprise.fairness;

import org.jspecify.annotations.NullMarked;
