// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Locale;

/** What a key may be used for. */
public enum Scope {
    /** Look at everything but keys. */
    READ,
    /** Put jobs in. */
    ENQUEUE,
    /** Lease jobs and report how they ended. */
    WORK,
    /** Retry, cancel, replay, pause, and change settings and schedules. */
    OPERATE,
    /** Everything, and manage keys. */
    ADMIN;

    /** As it is written in JSON and on the command line. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
