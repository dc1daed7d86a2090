// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Locale;

/** The scopes of a key. */
public enum Scope {
    /** Read everything but keys. */
    READ,
    /** Enqueue jobs. */
    ENQUEUE,
    /** Lease jobs and report their outcomes. */
    WORK,
    /** Retry, cancel, replay, pause, and change settings and schedules. */
    OPERATE,
    /** Everything, and manage keys. */
    ADMIN;

    /** Returns the scope as JSON and the command line write it. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
