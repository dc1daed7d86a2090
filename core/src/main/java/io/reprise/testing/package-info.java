// SPDX-License-Identifier: Apache-2.0
/**
 * For tests of code that uses Reprise: a clock that moves when told, a store in memory, and a worker that runs jobs in
 * the calling thread. Nothing here waits in real time.
 */
@NullMarked
package io.reprise.testing;

import org.jspecify.annotations.NullMarked;
