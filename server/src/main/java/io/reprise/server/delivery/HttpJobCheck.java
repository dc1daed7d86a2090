// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.server.http.Json;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Checks {@code http} jobs when they are enqueued, so that a call that can never be made is refused at once. */
public final class HttpJobCheck {

    private static final Set<String> MEMBERS = Set.of("method", "url", "headers", "body", "timeout", "followRedirects");
    private static final int MAX_UNKNOWN = 10;
    private static final int MAX_NAME = 40;

    private static final List<HttpCall.Flaw> NO_CALL = List.of(
            new HttpCall.Flaw("", "must have url, and may have method, headers, body, timeout and followRedirects"));

    private final OutboundGuard guard;

    public HttpJobCheck(OutboundGuard guard) {
        this.guard = guard;
    }

    /** Returns the errors of the payload; empty if there are none. */
    public List<HttpCall.Flaw> flaws(String payload) {
        try {
            HttpCall call = Json.read(payload, HttpCall.class);
            if (call == null) {
                return NO_CALL;
            }
            List<HttpCall.Flaw> flaws = new ArrayList<>(call.flaws(guard));
            if (flaws.isEmpty() && call.limit().compareTo(guard.longest()) > 0) {
                flaws.add(new HttpCall.Flaw(
                        "timeout", "must be at most " + guard.longest().toSeconds() + "s"));
            }
            unknown(payload).forEach(member -> flaws.add(new HttpCall.Flaw(shortened(member), "is not known here")));
            return flaws;
        } catch (JacksonException e) {
            // Without the message of the exception, which may quote secrets.
            return NO_CALL;
        }
    }

    private static List<String> unknown(String payload) {
        List<String> unknown = new ArrayList<>();
        try (JsonParser parser = Json.parser(payload)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME && unknown.size() < MAX_UNKNOWN) {
                if (!MEMBERS.contains(parser.currentName())) {
                    unknown.add(parser.currentName());
                }
                parser.nextToken();
                parser.skipChildren();
            }
        }
        return unknown;
    }

    private static String shortened(String name) {
        return name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME) + "…";
    }

    /** Returns the resource of a job whose payload has no errors. */
    public String resource(String payload, int most) {
        return HostResource.of(
                URI.create(String.valueOf(Json.read(payload, HttpCall.class).url())), most);
    }
}
