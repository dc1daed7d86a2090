// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What an operation answers: at once, later without a thread that waits, or bit by bit. */
public sealed interface Answer permits Response, Answer.Later, Answer.Stream, Answer.Parts {

    /** An answer that is not there yet. */
    record Later(CompletableFuture<Response> response) implements Answer {}

    /**
     * Server-sent events until the client or the server goes.
     *
     * @param start is given the open stream, before anything is sent
     */
    record Stream(Consumer<EventSink> start) implements Answer {}

    /**
     * A long answer, of which each part is made when the client has taken the one before. If one cannot be made the connection
     * breaks, so that nobody takes the beginning for the whole.
     *
     * @param next is asked for the next part; null after the last
     */
    record Parts(String contentType, Supplier<@Nullable String> next) implements Answer {}
}
