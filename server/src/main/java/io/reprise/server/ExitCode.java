// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

/** The exit codes of the program. They are documented in docs/cli.md and do not change. */
final class ExitCode {

    static final int OK = 0;

    /** The command did its work and found something worth a look. */
    static final int FINDING = 1;

    /** The command line, or a file that it names, cannot be used. */
    static final int BAD_INPUT = 2;

    /** A fault of the program or of its environment. */
    static final int INTERNAL = 70;

    private ExitCode() {}
}
