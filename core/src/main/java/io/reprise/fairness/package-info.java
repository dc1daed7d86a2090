// SPDX-License-Identifier: Apache-2.0
/** How groups and types of jobs share a queue. Invariant: pure data without clock, threads or I/O. */
@NullMarked
package io.reprise.fairness;

import org.jspecify.annotations.NullMarked;
