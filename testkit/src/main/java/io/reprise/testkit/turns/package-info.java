// SPDX-License-Identifier: Apache-2.0
/** The part of the contract of every store that is about groups and their turns. */
@NullMarked
package io.reprise.testkit.turns;

import org.jspecify.annotations.NullMarked;
