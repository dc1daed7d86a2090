// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One method on one path: its parameters, its answers, its scope and its action. Immutable once built.
 *
 * <pre>{@code
 * Operation.post("/v1/queues/{queue}/pause", "pauseQueue")
 *         .summary("No job of the queue is claimed until it is resumed")
 *         .scope(Scope.OPERATE)
 *         .path("queue", Schema.name(), "name of the queue")
 *         .answers(200, "the queue as it is now", QUEUE)
 *         .does(this::pause);
 * }</pre>
 */
public final class Operation {

    /** Performs a request that passed all checks. Its exceptions become problem documents. */
    @FunctionalInterface
    public interface Action {
        Answer perform(Request request);
    }

    /** The place of a parameter. */
    enum Place {
        PATH,
        QUERY,
        HEADER
    }

    /** A parameter. Those in the path are required. */
    record Parameter(Place place, String name, Schema schema, String about) {}

    /**
     * The answer with one status.
     *
     * @param items what each part of a stream is; null if it is no stream
     */
    record Reply(
            String about,
            @Nullable Schema schema,
            String contentType,
            @Nullable Schema items) {}

    /** Bytes that are enough for a body without payload. */
    private static final int SHORT = 64 << 10;

    private final Builder made;
    private final Action action;

    private Operation(Builder made, Action action) {
        this.made = made;
        this.action = action;
    }

    public static Builder get(String path, String id) {
        return new Builder("GET", path, id);
    }

    public static Builder post(String path, String id) {
        return new Builder("POST", path, id);
    }

    public static Builder put(String path, String id) {
        return new Builder("PUT", path, id);
    }

    public static Builder delete(String path, String id) {
        return new Builder("DELETE", path, id);
    }

    public String method() {
        return made.method;
    }

    /** Returns the path, with parameters in braces. */
    public String path() {
        return made.path;
    }

    /** Returns the name for generated clients. */
    public String id() {
        return made.id;
    }

    String summary() {
        return made.summary;
    }

    String section() {
        return made.section;
    }

    /** Returns the needed scope; null if none is needed. */
    public @Nullable Scope scope() {
        return made.scope;
    }

    Map<String, Parameter> parameters() {
        return made.parameters;
    }

    @Nullable
    Schema body() {
        return made.body;
    }

    /** Returns how many bytes its body may have; the server's limit also applies. */
    int maxBody() {
        Schema schema = made.body;
        return made.maxBody > 0 ? made.maxBody : schema != null && schema.hasJson() ? Integer.MAX_VALUE : SHORT;
    }

    boolean bodyRequired() {
        return made.bodyRequired;
    }

    Map<Integer, Reply> replies() {
        return made.replies;
    }

    /**
     * Whether the answer to this request shows payloads or results. Leases of workers do not count, because the
     * jobs' histories record them.
     */
    boolean showsPayloads(Request request) {
        if (made.showsParts) {
            return true;
        }
        return made.scope != Scope.WORK
                && (!made.parameters.containsKey("payloads") || request.flag("payloads"))
                && made.replies.values().stream()
                        .map(Reply::schema)
                        .anyMatch(schema -> schema != null && schema.hasJson());
    }

    /** Whether the answer to this request can hold much text, and so take much memory while it is made. */
    boolean isLarge(Request request) {
        if (made.large) {
            return true;
        }
        return made.method.equals("GET")
                && (!made.parameters.containsKey("payloads") || request.flag("payloads"))
                && made.replies.values().stream()
                        .map(Reply::schema)
                        .anyMatch(schema -> schema != null && schema.hasManyJson());
    }

    Action action() {
        return action;
    }

    /** Not thread-safe. */
    public static final class Builder {
        private final String method;
        private final String path;
        private final String id;
        private String summary = "";
        private String section = "";
        private @Nullable Scope scope = Scope.ADMIN;
        private final Map<String, Parameter> parameters = new LinkedHashMap<>();
        private @Nullable Schema body;
        private boolean bodyRequired;
        private int maxBody;
        private boolean large;
        private boolean showsParts;
        private final Map<Integer, Reply> replies = new LinkedHashMap<>();

        private Builder(String method, String path, String id) {
            this.method = method;
            this.path = path;
            this.id = id;
        }

        /** Sets a summary of one line. */
        public Builder summary(String text) {
            this.summary = text;
            return this;
        }

        /** Sets the section of the page. */
        public Builder section(String text) {
            this.section = text;
            return this;
        }

        /** Sets the needed scope. The default is admin. */
        public Builder scope(Scope needed) {
            this.scope = needed;
            return this;
        }

        /** Makes the operation need no key. */
        public Builder forAnyone() {
            this.scope = null;
            return this;
        }

        public Builder path(String name, Schema schema, String about) {
            return parameter(new Parameter(Place.PATH, name, schema, about));
        }

        public Builder query(String name, Schema schema, String about) {
            return parameter(new Parameter(Place.QUERY, name, schema, about));
        }

        public Builder header(String name, Schema schema, String about) {
            return parameter(new Parameter(Place.HEADER, name, schema, about));
        }

        /** Requires a JSON body. */
        public Builder body(Schema schema) {
            this.body = schema;
            this.bodyRequired = true;
            return this;
        }

        /** Allows a JSON body. A missing body counts as an empty object. */
        public Builder optionalBody(Schema schema) {
            this.body = schema;
            this.bodyRequired = false;
            return this;
        }

        /**
         * Sets the size limit of the body. The default is 64 KiB, or the server's limit if a member may be any JSON.
         */
        public Builder bodyUpTo(int bytes) {
            this.maxBody = bytes;
            return this;
        }

        /** Says that answers show parts of payloads as text. Of an answer with whole payloads or results this is known. */
        public Builder showsPartsOfPayloads() {
            this.showsParts = true;
            return this;
        }

        /** Says that answers may be large. Of a GET with many payloads or results this is known. */
        public Builder large() {
            this.large = true;
            return this;
        }

        public Builder answers(int status, String about, Schema schema) {
            replies.put(status, new Reply(about, schema, "application/json", null));
            return this;
        }

        /** Declares an answer without a body. */
        public Builder answers(int status, String about) {
            replies.put(status, new Reply(about, null, "", null));
            return this;
        }

        public Builder answersAs(int status, String about, String contentType) {
            replies.put(status, new Reply(about, Schema.text(0, Integer.MAX_VALUE), contentType, null));
            return this;
        }

        /** Declares an answer of many JSON values: the lines of a text, or the data of events. */
        public Builder answersEach(int status, String about, String contentType, Schema items) {
            replies.put(status, new Reply(about, Schema.text(0, Integer.MAX_VALUE), contentType, items));
            return this;
        }

        public Operation does(Action action) {
            return new Operation(this, Objects.requireNonNull(action, "action"));
        }

        private Builder parameter(Parameter parameter) {
            parameters.put(parameter.name(), parameter);
            return this;
        }
    }
}
