// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * A connection that can tell, while its request is being answered, whether the client has gone. Jetty does not read
 * during that time. So bytes that arrive are read here and kept for Jetty.
 */
public final class PeekableEndPoint extends SocketChannelEndPoint {

    private static final int MAX_PEEKED_BYTES = 4_096;

    private final Executor executor;
    private final ByteBuffer early = ByteBuffer.allocate(MAX_PEEKED_BYTES);
    private boolean ended;

    public PeekableEndPoint(
            SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler, Executor executor) {
        super(channel, selector, key, scheduler);
        this.executor = executor;
    }

    /** Whether the client has closed the connection after its request was read. */
    public static boolean isGone(org.eclipse.jetty.server.Request request) {
        EndPoint end = request.getConnectionMetaData().getConnection().getEndPoint();
        while (end instanceof EndPoint.Wrapper wrapper) {
            end = wrapper.unwrap();
        }
        return end instanceof PeekableEndPoint peekable && peekable.hasEnded();
    }

    private synchronized boolean hasEnded() {
        try {
            int read = 1;
            while (!ended && read > 0 && early.hasRemaining()) {
                read = getChannel().read(early);
                ended = read < 0;
            }
        } catch (IOException e) {
            ended = true;
        }
        return ended;
    }

    @Override
    public synchronized int fill(ByteBuffer buffer) throws IOException {
        if (early.position() == 0) {
            return super.fill(buffer);
        }
        early.flip();
        int given = BufferUtil.append(buffer, early);
        early.compact();
        return given;
    }

    /** The selector does not know of bytes that were read before. */
    @Override
    protected void needsFillInterest() {
        boolean known;
        synchronized (this) {
            known = ended || early.position() > 0;
        }
        if (known) {
            executor.execute(() -> getFillInterest().fillable());
        } else {
            super.needsFillInterest();
        }
    }
}
