// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

/** How much this run tests: {@code ./reprise test} most, {@code ./reprise test --all} all. */
public final class TestRun {

    private static final boolean ALL = Boolean.getBoolean("reprise.test.all");

    private TestRun() {}

    /** Whether {@link Slow} tests run. */
    public static boolean isAll() {
        return ALL;
    }

    /** The size of a test that shows the same in both runs, and more often or with more jobs in a run of all. */
    public static int size(int quick, int all) {
        return ALL ? all : quick;
    }
}
