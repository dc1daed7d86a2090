// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.io.Content;

/**
 * Reads the body of a request without a waiting thread. It keeps at most {@code keep} bytes. It reads and drops the
 * rest up to {@code end} bytes, because many clients read an answer only after they sent their whole body: if the
 * server closed the connection before, they would report a broken connection instead of the answer.
 */
final class RequestBody {

    /** The body has more bytes than the server keeps. */
    static final class TooLong extends Exception {
        private static final long serialVersionUID = 1L;

        /** Whether the whole body was read, so that the connection can carry the next request. */
        final boolean read;

        TooLong(boolean read) {
            super("The body is too long", null, false, false);
            this.read = read;
        }
    }

    private final Content.Source source;
    private final int keep;
    private final long end;
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private long length;

    private RequestBody(Content.Source source, int keep, long end) {
        this.source = source;
        this.keep = keep;
        this.end = end;
    }

    /** Fails with {@link TooLong} if the body has more than {@code keep} bytes. */
    static CompletableFuture<byte[]> read(Content.Source source, int keep, long end) {
        RequestBody body = new RequestBody(source, keep, end);
        body.readOn();
        return body.whole;
    }

    private void readOn() {
        while (!whole.isDone()) {
            Content.Chunk chunk = source.read();
            if (chunk == null) {
                source.demand(this::readOn);
                return;
            }
            if (Content.Chunk.isFailure(chunk)) {
                Throwable failure = chunk.getFailure();
                whole.completeExceptionally(failure == null ? new EOFException() : failure);
                return;
            }
            take(chunk);
        }
    }

    private void take(Content.Chunk chunk) {
        int bytes = chunk.remaining();
        length += bytes;
        if (length <= keep) {
            byte[] copy = new byte[bytes];
            chunk.get(copy, 0, bytes);
            kept.write(copy, 0, bytes);
        } else {
            kept.reset();
        }
        boolean last = chunk.isLast();
        chunk.release();
        if (length > keep && (last || length > end)) {
            whole.completeExceptionally(new TooLong(last));
        } else if (last) {
            whole.complete(kept.toByteArray());
        }
    }
}
