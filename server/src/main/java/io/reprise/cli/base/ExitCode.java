// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

/** The exit codes of the program. They are documented in docs/cli.md and do not change. */
public final class ExitCode {

    public static final int OK = 0;

    /** The command did its work and found something worth a look. */
    public static final int FINDING = 1;

    /** The command line, or a file that it names, cannot be used. */
    public static final int BAD_INPUT = 2;

    /** A fault of the program or of its environment. */
    public static final int INTERNAL = 70;

    private ExitCode() {}
}
