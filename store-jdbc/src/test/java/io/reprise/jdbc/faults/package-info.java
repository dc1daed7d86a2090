// SPDX-License-Identifier: Apache-2.0
/**
 * Real workers in processes of their own, on real databases, under real faults. Everything that anybody asked of a store
 * and was told is written down, and the checker of {@code io.reprise.history} reads it afterwards.
 */
@NullMarked
package io.reprise.jdbc.faults;

import org.jspecify.annotations.NullMarked;
