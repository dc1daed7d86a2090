// SPDX-License-Identifier: Apache-2.0
/**
 * What a store needs to prove itself: the contract every store passes, and the fixtures to run it against real servers.
 */
@NullMarked
package io.reprise.testkit;

import org.jspecify.annotations.NullMarked;
