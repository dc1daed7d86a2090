// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.fuzz;

import io.reprise.job.JobSpec;
import io.reprise.server.LocalApi;
import io.reprise.server.api.Outgoing;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Scope;
import io.reprise.testing.InMemoryJobStore;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Filters of lists, {@code name=value} with ampersands between: an answer or a problem, for a tenant that owns nothing no job. */
public final class SearchTarget {

    private static final LocalApi API = open();
    private static final Caller TENANT = new Caller("fuzz", Set.of(Scope.READ), "evil");
    private static final List<String> PATHS =
            List.of("/v1/jobs", "/v1/dead-letters", "/v1/dead-letters/groups", "/v1/audit");

    private SearchTarget() {}

    private static LocalApi open() {
        InMemoryJobStore store = new InMemoryJobStore();
        store.insert(List.of(
                JobSpec.builder("a", "{}").queue("victim/q").tags(Set.of("t")).build(),
                JobSpec.builder("b", "{}").build()));
        return new LocalApi(
                "fuzz",
                store,
                new Outgoing(store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null));
    }

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        String path = PATHS.get(text.isEmpty() ? 0 : text.charAt(0) % PATHS.size());
        StringBuilder query = new StringBuilder();
        for (String pair : text.split("&", -1)) {
            String[] sides = pair.split("=", 2);
            query.append(query.isEmpty() ? "?" : "&")
                    .append(URLEncoder.encode(sides[0], StandardCharsets.UTF_8))
                    .append("=")
                    .append(URLEncoder.encode(sides.length == 1 ? "" : sides[1], StandardCharsets.UTF_8));
        }
        try {
            JsonNode answer = API.call(TENANT, "GET", path + query, null);
            if (answer != null && answer.toString().contains("victim")) {
                throw new IllegalStateException("shows another tenant's: " + answer);
            }
        } catch (Problem e) {
            // Refused, and says why.
        }
    }
}
