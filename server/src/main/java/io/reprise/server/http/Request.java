// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.config.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A request that fits its operation: required values are there, and all values have the declared form. */
public final class Request {

    private final Caller caller;
    private final Map<String, String> parameters;
    private final JsonNode body;
    private final BooleanSupplier gone;

    Request(Caller caller, Map<String, String> parameters, JsonNode body) {
        this(caller, parameters, body, () -> false);
    }

    private Request(Caller caller, Map<String, String> parameters, JsonNode body, BooleanSupplier gone) {
        this.gone = gone;
        this.caller = caller;
        this.parameters = Map.copyOf(parameters);
        this.body = body;
    }

    /** Returns a copy for a client that may go away. */
    Request from(BooleanSupplier clientIsGone) {
        return new Request(caller, parameters, body, clientIsGone);
    }

    /** Whether the client no longer waits for the answer. */
    public boolean isAbandoned() {
        return gone.getAsBoolean();
    }

    public Caller caller() {
        return caller;
    }

    /** Returns a declared parameter that may be missing. */
    public @Nullable String parameter(String name) {
        return parameters.get(name);
    }

    /** Returns a parameter of the path. */
    public String path(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("'" + name + "' is not a parameter of this path");
        }
        return value;
    }

    public int integer(String name, int otherwise) {
        String value = parameters.get(name);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    /** Returns a declared parameter that may be greater than an {@code int}. */
    public long whole(String name, long otherwise) {
        String value = parameters.get(name);
        return value == null ? otherwise : Long.parseLong(value);
    }

    public boolean flag(String name) {
        return Boolean.parseBoolean(parameters.get(name));
    }

    public @Nullable Instant time(String name) {
        String value = parameters.get(name);
        return value == null ? null : Instant.parse(value);
    }

    public Duration duration(String name, Duration otherwise) {
        String value = parameters.get(name);
        return value == null ? otherwise : Durations.parse(value);
    }

    /** Returns the body; an empty object if it is optional and missing. */
    public JsonNode body() {
        return body;
    }

    /** Returns the fields of the body. */
    public Fields fields() {
        return new Fields(body);
    }
}
