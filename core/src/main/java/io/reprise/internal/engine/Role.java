// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;

/**
 * A part of the engine that works in steps, such as the fetcher or the committer. The {@link Driver} calls the steps of
 * one role one after the other, in production from a thread of that role.
 */
public interface Role {

    String name();

    /** Does one bounded piece of work. Returns how long to rest before the next step, unless the role is woken. */
    Duration step();
}
