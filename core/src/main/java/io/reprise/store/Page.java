// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of an answer. It may be shorter than it was asked to be, and even empty, and still not be the last: a store does
 * not look at any number of rows for one page. Only {@code next} says whether there may be more.
 *
 * @param next cursor of the following page; null if this is the last
 */
public record Page<T>(List<T> items, @Nullable String next) {

    public Page {
        items = List.copyOf(items);
    }
}
