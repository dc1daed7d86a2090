// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A way to the HTTP API. Not thread-safe. */
public interface Link extends AutoCloseable {

    /**
     * Performs one operation.
     *
     * @param target path and query; made with {@link Target}
     * @return what it answers; an empty object if that is nothing
     * @throws LinkException if it is refused, or cannot be done
     */
    JsonNode call(String method, Target target, @Nullable JsonNode body);

    /**
     * Tells what happens to jobs from now on.
     *
     * @param filter parameters {@code queue}, {@code type} and {@code job}, where given
     * @param each told of every event, until it answers false
     */
    void follow(Target filter, Predicate<JsonNode> each);

    /** What it leads to, without secrets. */
    String where();

    /** Whose events {@link #follow} tells, in words. */
    String scope();

    @Override
    void close();

    default JsonNode get(Target target) {
        return call("GET", target, null);
    }

    default JsonNode post(Target target, @Nullable JsonNode body) {
        return call("POST", target, body);
    }
}
