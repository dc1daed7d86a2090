// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Writes the events that gathered during the last write. A client that falls too far behind is cut off. */
final class JettyEventSink implements EventSink {

    /** Characters that wait for the client: from the first number on it is behind, beyond the second it is cut off. */
    private static final int MANY = 64 << 10;

    private static final int TOO_MANY = 1 << 20;

    private final org.eclipse.jetty.server.Response response;
    private final Callback callback;
    private final Deque<String> waiting = new ArrayDeque<>();
    private final List<Runnable> onEnd = new ArrayList<>();
    private int chars;
    private boolean writing;
    private boolean closing;
    private boolean ended;

    JettyEventSink(
            org.eclipse.jetty.server.Request request, org.eclipse.jetty.server.Response response, Callback callback) {
        this.response = response;
        this.callback = callback;
        request.addFailureListener(this::end);
        // Silence is normal here; heartbeats detect a client that has gone.
        request.addIdleTimeoutListener(timeout -> false);
    }

    @Override
    public boolean send(String text) {
        synchronized (this) {
            if (ended || closing) {
                return false;
            }
            if (chars + text.length() > TOO_MANY) {
                closing = true;
                waiting.clear();
                chars = 0;
            } else {
                waiting.add(text);
                chars += text.length();
            }
        }
        write();
        return !isClosing();
    }

    @Override
    public synchronized boolean isReady() {
        return chars < MANY;
    }

    @Override
    public void close() {
        synchronized (this) {
            closing = true;
        }
        write();
    }

    @Override
    public void onEnd(Runnable action) {
        synchronized (this) {
            if (!ended) {
                onEnd.add(action);
                return;
            }
        }
        action.run();
    }

    private synchronized boolean isClosing() {
        return closing || ended;
    }

    private void write() {
        ByteBuffer bytes;
        boolean last;
        synchronized (this) {
            if (writing || ended || (waiting.isEmpty() && !closing)) {
                return;
            }
            writing = true;
            last = closing;
            bytes = StandardCharsets.UTF_8.encode(String.join("", waiting));
            waiting.clear();
            chars = 0;
        }
        response.write(last, bytes, Callback.from(() -> written(last), this::end));
    }

    private void written(boolean last) {
        synchronized (this) {
            writing = false;
        }
        if (last) {
            end(null);
        } else {
            write();
        }
    }

    private void end(@Nullable Throwable failure) {
        List<Runnable> actions;
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            waiting.clear();
            actions = List.copyOf(onEnd);
        }
        actions.forEach(Runnable::run);
        if (failure == null) {
            callback.succeeded();
        } else {
            callback.failed(failure);
        }
    }
}
