// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.time.Duration;

/** A part of the engine that works in steps. Steps of one role never overlap. */
public interface Role {

    String name();

    /** Does one bounded piece of work. Returns how long to rest before the next, unless woken. */
    Duration step();
}
