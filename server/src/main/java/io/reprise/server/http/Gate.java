// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decides who a request comes from, and whether it comes too often. Thread-safe. */
public interface Gate {

    /**
     * Lets a request in before its body is read.
     *
     * @param authorization the header of that name, or null
     * @param address where it comes from
     * @param needed what the operation asks for; null if anyone may
     * @throws Problem if it is not let in
     */
    Caller admit(@Nullable String authorization, String address, @Nullable Scope needed);

    /** Headers that tell a caller how often it may ask. */
    default Map<String, String> limits(Caller caller) {
        return Map.of();
    }

    /** Hears that a caller who was let in asked for what it may not have. */
    default void refused(Caller caller, String operation, String why) {}

    /** Hears that a caller is about to read payloads. */
    default void read(Caller caller, String what) {}

    /** Whether somebody who was let in once would be let in again, however often they ask. */
    default boolean stillAdmits(@Nullable String authorization, @Nullable Scope needed) {
        return true;
    }
}
