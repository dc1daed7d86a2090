// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

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
}
