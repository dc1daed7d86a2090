// SPDX-License-Identifier: Apache-2.0
/**
 * Batches: jobs with a common end. A batch counts its members in the transaction in which they end, so its end comes
 * exactly once and never early. {@code join} of a handler is a batch that wakes its parent.
 *
 * <p><b>Invariant:</b> plain data; a store counts, and nothing else does.
 */
@NullMarked
package io.reprise.batch;

import org.jspecify.annotations.NullMarked;
