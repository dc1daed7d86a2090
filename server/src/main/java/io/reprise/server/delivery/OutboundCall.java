// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request to another server. Immutable.
 *
 * @param uri a URI that {@link OutboundGuard#check} has accepted
 * @param body may be empty
 * @param limit for the whole call, from the connection to the last byte of the answer
 * @param tenant the tenant of the call; empty if there is none
 */
public record OutboundCall(
        String method, URI uri, Map<String, String> headers, String body, Duration limit, String tenant) {

    /** Creates a call without a tenant. */
    public OutboundCall(String method, URI uri, Map<String, String> headers, String body, Duration limit) {
        this(method, uri, headers, body, limit, "");
    }

    public OutboundCall {
        headers = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }
}
