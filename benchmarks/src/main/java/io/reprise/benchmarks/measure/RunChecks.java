// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

/** Checks a measurement. A measurement that went wrong does not count. */
public final class RunChecks {

    private RunChecks() {}

    public static void equal(String what, long expected, long found) {
        if (expected != found) {
            throw new IllegalStateException(what + ": " + found + ", not " + expected);
        }
    }
}
