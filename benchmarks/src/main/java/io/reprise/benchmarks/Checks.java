// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

/** Checks a measurement. A measurement that went wrong does not count. */
final class Checks {

    private Checks() {}

    static void equal(String what, long expected, long found) {
        if (expected != found) {
            throw new IllegalStateException(what + ": " + found + ", not " + expected);
        }
    }
}
