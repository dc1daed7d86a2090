// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes text: JSON, durations, cuts to a length, and checks of bounds. Not exported.
 */
@NullMarked
package io.reprise.text;

import org.jspecify.annotations.NullMarked;
