// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.util.Collection;
import java.util.List;

/**
 * Which leases go with a batch of outcomes.
 *
 * @param named those of which the caller knows that nothing remains
 * @param empty whether the caller does not know: then those of which nothing remains
 */
record Closing(Collection<Long> named, boolean empty) {

    static final Closing EMPTY = new Closing(List.of(), true);

    static Closing of(Collection<Long> named) {
        return new Closing(named, false);
    }
}
