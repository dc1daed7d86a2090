// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

/** What the program tells its caller. Documented in docs/cli.md; the numbers do not change. */
final class ExitCode {

    static final int OK = 0;

    /** The command did its work and found something worth a look. */
    static final int FINDING = 1;

    /** The command line or what it names cannot be used as it is. */
    static final int BAD_INPUT = 2;

    /** A fault of the program or of what it runs on. */
    static final int INTERNAL = 70;

    private ExitCode() {}
}
