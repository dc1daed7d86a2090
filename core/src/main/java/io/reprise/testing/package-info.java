// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers for tests of code that uses Reprise: a clock that moves only when the test moves it, a store in memory, and a
 * worker that runs jobs in the calling thread. Nothing here waits in real time.
 *
 * <p>Start at {@link io.reprise.testing.InlineWorker}.
 */
@NullMarked
package io.reprise.testing;

import org.jspecify.annotations.NullMarked;
