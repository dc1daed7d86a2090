// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.server.http.Json;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Looks at {@code http} jobs when they are enqueued, so that a call that can never be made is refused at once. */
public final class HttpJobCheck {

    private static final Set<String> MEMBERS =
            Set.of("method", "url", "headers", "body", "timeout", "followRedirects");
    private static final int MAX_UNKNOWN = 10;
    private static final int MAX_NAME = 40;

    private final OutboundGuard guard;

    public HttpJobCheck(OutboundGuard guard) {
        this.guard = guard;
    }

    /** What is wrong with the payload of such a job; empty if nothing is. */
    public List<HttpCall.Flaw> flaws(JsonNode payload) {
        try {
            List<HttpCall.Flaw> flaws =
                    new ArrayList<>(Json.read(payload.toString(), HttpCall.class).flaws(guard));
            payload.propertyNames().stream()
                    .filter(member -> !MEMBERS.contains(member))
                    .limit(MAX_UNKNOWN)
                    .forEach(member -> flaws.add(new HttpCall.Flaw(shortened(member), "is not known here")));
            return flaws;
        } catch (JacksonException e) {
            // Its own message may quote what is secret.
            return List.of(new HttpCall.Flaw(
                    "", "must have url, and may have method, headers, body, timeout and followRedirects"));
        }
    }

    private static String shortened(String name) {
        return name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME) + "…";
    }

    /** The resource of a job whose payload has no flaws. */
    public String resource(JsonNode payload) {
        return HostResource.of(URI.create(payload.path("url").stringValue("")));
    }
}
