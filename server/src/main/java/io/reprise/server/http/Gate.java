// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decides who sends a request, and whether it comes too often. Thread-safe. */
public interface Gate {

    /**
     * Admits a request before its body is read.
     *
     * @param authorization the header of that name, or {@link Cookies#SCHEME} and a session's token; null without both
     * @param address the client's address
     * @param needed the scope that the operation needs; null if it needs none
     * @throws Problem if the request is not admitted
     */
    Caller admit(@Nullable String authorization, String address, @Nullable Scope needed);

    /** Returns headers that tell a caller how often it may ask. */
    default Map<String, String> limits(Caller caller) {
        return Map.of();
    }

    /** Notes that an admitted caller asked for something that it may not have. */
    default void refused(Caller caller, String operation, String why) {}

    /** Notes that a caller is about to read payloads. */
    default void read(Caller caller, String what) {}

    /** Whether a caller that was admitted once would be admitted again, regardless of its rate. */
    default boolean stillAdmits(@Nullable String authorization, @Nullable Scope needed) {
        return true;
    }
}
