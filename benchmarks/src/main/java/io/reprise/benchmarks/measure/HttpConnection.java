// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One connection that stays open, for one thread. It does as little as HTTP allows, so that the server is measured. */
public final class HttpConnection implements AutoCloseable {

    private static final int TIMEOUT_MILLIS = 60_000;
    private static final String LENGTH = "content-length:";

    private final Socket socket;
    private final InputStream in;
    private final String headers;

    public HttpConnection(URI server, String key) throws IOException {
        socket = new Socket(server.getHost(), server.getPort());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), 64 << 10);
        headers = " HTTP/1.1\r\nHost: " + server.getAuthority() + "\r\nAuthorization: Bearer " + key
                + "\r\nContent-Type: application/json\r\nContent-Length: ";
    }

    /**
     * Sends JSON and returns the body of the answer.
     *
     * @throws IllegalStateException if the answer is not a success
     */
    public byte[] post(String path, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        String head = "POST " + path + headers + body.length + "\r\n\r\n";
        byte[] request = new byte[head.length() + body.length];
        System.arraycopy(head.getBytes(StandardCharsets.US_ASCII), 0, request, 0, head.length());
        System.arraycopy(body, 0, request, head.length(), body.length);
        socket.getOutputStream().write(request);
        return answer();
    }

    private byte[] answer() throws IOException {
        String status = line();
        int length = 0;
        for (String line = line(); !line.isEmpty(); line = line()) {
            if (line.toLowerCase(Locale.ROOT).startsWith(LENGTH)) {
                length = Integer.parseInt(line.substring(LENGTH.length()).trim());
            }
        }
        byte[] body = in.readNBytes(length);
        if (!status.startsWith("HTTP/1.1 2")) {
            throw new IllegalStateException(status + " " + new String(body, StandardCharsets.UTF_8));
        }
        return body;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
