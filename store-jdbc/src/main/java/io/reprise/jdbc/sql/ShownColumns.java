// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

/**
 * A view that shows a part of all jobs.
 *
 * @param view the view with a condition
 * @param scanned the rows that an index must read to find these jobs, newest first: a table with a condition
 * @param hasKeys whether one such index begins with the queue, and another with the fingerprint
 */
public record ShownColumns(String view, String scanned, boolean hasKeys) {

    public static ShownColumns of(String view, String scanned) {
        return new ShownColumns(view, scanned, false);
    }

    /** Describes a view of dead letters. */
    public static ShownColumns dead(String view, String scanned) {
        return new ShownColumns(view, scanned, true);
    }
}
