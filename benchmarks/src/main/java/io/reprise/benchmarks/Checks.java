// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

/** A measurement of something that went wrong is none. */
final class Checks {

    private Checks() {}

    static void equal(String what, long expected, long found) {
        if (expected != found) {
            throw new IllegalStateException(what + ": " + found + ", not " + expected);
        }
    }
}
