// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

/**
 * Where some of all jobs are shown.
 *
 * @param view with a condition
 * @param looked the rows that have to be looked at to find them, newest first by an index: a table with a condition
 * @param hasKeys whether such an index begins with a queue, and another with a fingerprint
 */
record Shown(String view, String looked, boolean hasKeys) {

    static Shown of(String view, String looked) {
        return new Shown(view, looked, false);
    }

    /** Dead letters. */
    static Shown dead(String view, String looked) {
        return new Shown(view, looked, true);
    }
}
