// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One part of an answer. A page may be shorter than its limit, and even empty, and still not be the last: a store reads
 * a bounded number of rows for one page. Only {@code next} says whether there may be more.
 *
 * @param <T> type of the items
 * @param items the items, in the order of the answer
 * @param next cursor of the next page; null if this is the last
 * @since 0.1.0
 */
public record Page<T>(List<T> items, @Nullable String next) {

    /** Copies the list. */
    public Page {
        items = List.copyOf(items);
    }
}
