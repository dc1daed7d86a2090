// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request to somebody else. Immutable.
 *
 * @param uri that {@link OutboundGuard#check} has let pass
 * @param body may be empty
 * @param limit for all of it, from the connection to the last byte of the answer
 * @param tenant whose it is; empty if nobody's in particular
 */
public record OutboundCall(
        String method, URI uri, Map<String, String> headers, String body, Duration limit, String tenant) {

    /** A call of nobody in particular. */
    public OutboundCall(String method, URI uri, Map<String, String> headers, String body, Duration limit) {
        this(method, uri, headers, body, limit, "");
    }

    public OutboundCall {
        headers = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }
}
