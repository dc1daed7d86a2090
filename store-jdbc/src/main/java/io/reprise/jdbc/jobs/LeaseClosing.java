// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import java.util.Collection;
import java.util.List;

/**
 * Which leases end with a batch of outcomes.
 *
 * @param named leases that are empty after the batch, as the caller knows
 * @param empty whether the caller does not know; then the store ends each lease of the batch that is empty
 */
public record LeaseClosing(Collection<Long> named, boolean empty) {

    public static final LeaseClosing EMPTY = new LeaseClosing(List.of(), true);

    public static LeaseClosing of(Collection<Long> named) {
        return new LeaseClosing(named, false);
    }
}
