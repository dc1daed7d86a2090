// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of an answer.
 *
 * @param next cursor of the following page; null if this is the last
 */
public record Page<T>(List<T> items, @Nullable String next) {

    public Page {
        items = List.copyOf(items);
    }
}
