// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A complete answer. Immutable: {@link #header} and {@link #as} return a copy. */
public final class Response implements Answer {

    private static final byte[] NOTHING = {};

    private final int status;
    private final @Nullable String contentType;
    private final byte[] body;
    private final Map<String, String> headers;
    private final @Nullable Runnable ifUnsent;

    private Response(int status, @Nullable String contentType, byte[] body, Map<String, String> headers) {
        this(status, contentType, body, headers, null);
    }

    private Response(
            int status,
            @Nullable String contentType,
            byte[] body,
            Map<String, String> headers,
            @Nullable Runnable ifUnsent) {
        this.ifUnsent = ifUnsent;
        this.status = status;
        this.contentType = contentType;
        this.body = body;
        this.headers = headers;
    }

    /** Writes maps, lists, records and the like as JSON. */
    public static Response json(int status, Object value) {
        return new Response(status, "application/json", Json.bytes(value), Map.of());
    }

    public static Response ok(Object value) {
        return json(200, value);
    }

    public static Response created(String location, Object value) {
        return json(201, value).header("Location", location);
    }

    public static Response noContent() {
        return new Response(204, null, NOTHING, Map.of());
    }

    /** The caller already has this version. */
    public static Response notModified(String tag) {
        return new Response(304, null, NOTHING, Map.of("ETag", tag));
    }

    public static Response text(String contentType, String text) {
        return new Response(200, contentType, text.getBytes(StandardCharsets.UTF_8), Map.of());
    }

    /** Takes the bytes as they are; the caller must not change them. */
    public static Response bytes(String contentType, byte[] body) {
        return new Response(200, contentType, body, Map.of());
    }

    public Response header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Response(status, contentType, body, more, ifUnsent);
    }

    /** Adds an ETag that depends only on the body. */
    public Response tagged() {
        CRC32C sum = new CRC32C();
        sum.update(body);
        return header("ETag", "\"" + Long.toHexString(sum.getValue()) + "-" + body.length + "\"");
    }

    public Response as(String otherContentType) {
        return new Response(status, otherContentType, body, headers, ifUnsent);
    }

    /** Adds an action that runs if the answer does not reach the client. */
    public Response ifUnsent(Runnable undo) {
        return new Response(status, contentType, body, headers, undo);
    }

    @Nullable
    Runnable ifUnsent() {
        return ifUnsent;
    }

    public int status() {
        return status;
    }

    public @Nullable String contentType() {
        return contentType;
    }

    public Map<String, String> headers() {
        return headers;
    }

    byte[] body() {
        return body;
    }
}
