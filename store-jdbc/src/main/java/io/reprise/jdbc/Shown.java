// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

/**
 * A view that shows a part of all jobs.
 *
 * @param view the view with a condition
 * @param looked the rows that an index must read to find these jobs, newest first: a table with a condition
 * @param hasKeys whether one such index begins with the queue, and another with the fingerprint
 */
record Shown(String view, String looked, boolean hasKeys) {

    static Shown of(String view, String looked) {
        return new Shown(view, looked, false);
    }

    /** Describes a view of dead letters. */
    static Shown dead(String view, String looked) {
        return new Shown(view, looked, true);
    }
}
