// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The answer of another server. Its body is kept up to {@value #MAX_BODY} bytes. */
public final class OutboundAnswer {

    public static final int MAX_BODY = 16_384;

    private final int status;
    private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private final byte[] body;
    private final boolean truncated;

    OutboundAnswer(int status, Map<String, String> headers, byte[] body, boolean truncated) {
        this.status = status;
        this.headers.putAll(headers);
        this.body = body;
        this.truncated = truncated;
    }

    public int status() {
        return status;
    }

    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }

    /** Returns a header, whatever the case of its name; the first if there are several. */
    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /** Returns the body as text. Bytes that are not UTF-8 are replaced. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Whether the body was longer than the kept part. */
    public boolean isTruncated() {
        return truncated;
    }
}
