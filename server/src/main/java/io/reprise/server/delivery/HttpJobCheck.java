// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.server.http.Json;
import java.net.URI;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Looks at {@code http} jobs when they are enqueued, so that a call that can never be made is refused at once. */
public final class HttpJobCheck {

    private final OutboundGuard guard;

    public HttpJobCheck(OutboundGuard guard) {
        this.guard = guard;
    }

    /** What is wrong with the payload of such a job; empty if nothing is. */
    public List<HttpCall.Flaw> flaws(JsonNode payload) {
        try {
            return Json.read(payload.toString(), HttpCall.class).flaws(guard);
        } catch (JacksonException e) {
            // Its own message may quote what is secret.
            return List.of(new HttpCall.Flaw(
                    "", "must have url, and may have method, headers, body, timeout and followRedirects"));
        }
    }

    /** The resource of a job whose payload has no flaws. */
    public String resource(JsonNode payload) {
        return HostResource.of(URI.create(payload.path("url").stringValue("")));
    }
}
