// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** What an operation answers: at once, later without a thread that waits, or bit by bit. */
public sealed interface Answer permits Response, Answer.Later, Answer.Stream {

    /** An answer that is not there yet. */
    record Later(CompletableFuture<Response> response) implements Answer {}

    /**
     * Server-sent events until the client or the server goes.
     *
     * @param start is given the open stream, before anything is sent
     */
    record Stream(Consumer<EventSink> start) implements Answer {}
}
