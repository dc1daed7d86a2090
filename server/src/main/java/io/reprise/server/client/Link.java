// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Access to the HTTP API. Not thread-safe. */
public interface Link extends AutoCloseable {

    /**
     * Performs one operation.
     *
     * @param target path and query; made with {@link ServerTarget}
     * @return the answer; an empty object if there is none
     * @throws LinkException if the operation is refused, or fails
     */
    JsonNode call(String method, ServerTarget target, @Nullable JsonNode body);

    /**
     * Reports what happens to jobs from now on.
     *
     * @param filter parameters {@code queue}, {@code type} and {@code job}, where given
     * @param each receives every event, until it returns false
     */
    void follow(ServerTarget filter, Predicate<JsonNode> each);

    /** Returns the address, without secrets. */
    String where();

    /** Returns whose events {@link #follow} reports, in words. */
    String scope();

    @Override
    void close();

    default JsonNode get(ServerTarget target) {
        return call("GET", target, null);
    }

    default JsonNode post(ServerTarget target, @Nullable JsonNode body) {
        return call("POST", target, body);
    }
}
