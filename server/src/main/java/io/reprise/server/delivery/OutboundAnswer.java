// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What another server answered. Its body is kept up to {@value #MAX_BODY} bytes. */
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

    /** A header, whatever the case of its name; the first if there are several. */
    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /** As text; what is not UTF-8 is replaced. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Whether there was more than is kept. */
    public boolean isTruncated() {
        return truncated;
    }
}
