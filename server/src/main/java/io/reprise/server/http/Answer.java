// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The answer of an operation: at once, later without a waiting thread, or in parts. */
public sealed interface Answer permits Response, Answer.Later, Answer.Stream, Answer.Parts {

    /** An answer that follows later. */
    record Later(CompletableFuture<Response> response) implements Answer {}

    /**
     * Server-sent events, until the client or the server ends.
     *
     * @param start receives the open stream before anything is sent
     * @param unused runs instead if no stream is opened
     */
    record Stream(Consumer<EventSink> start, Runnable unused) implements Answer {}

    /**
     * A long answer. Each part is made when the client has taken the part before. If a part cannot be made, the
     * connection breaks, so that no client takes the beginning for the whole.
     *
     * @param next returns the next part; null after the last
     * @param ended runs once after the last part, and also if the client has gone or a part could not be made
     */
    record Parts(String contentType, Supplier<@Nullable String> next, Runnable ended) implements Answer {}
}
