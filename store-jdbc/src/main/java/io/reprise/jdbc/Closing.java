// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.util.Collection;
import java.util.List;

/**
 * Which leases end with a batch of outcomes.
 *
 * @param named leases that are empty after the batch, as the caller knows
 * @param empty whether the caller does not know; then the store ends each lease of the batch that is empty
 */
record Closing(Collection<Long> named, boolean empty) {

    static final Closing EMPTY = new Closing(List.of(), true);

    static Closing of(Collection<Long> named) {
        return new Closing(named, false);
    }
}
