// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

/**
 * A kind of error that programs recognise by its {@code type}, which never changes.
 *
 * @param name last part of the type's URI
 * @param status status of the answer
 * @param title a short description
 */
public record ProblemType(String name, int status, String title) {

    public static final ProblemType INVALID_REQUEST =
            new ProblemType("invalid-request", 400, "The request is not valid");
    public static final ProblemType UNAUTHORIZED = new ProblemType("unauthorized", 401, "A valid API key is needed");
    public static final ProblemType FORBIDDEN = new ProblemType("forbidden", 403, "This is not allowed");
    public static final ProblemType NOT_FOUND = new ProblemType("not-found", 404, "There is no such thing");
    public static final ProblemType METHOD_NOT_ALLOWED =
            new ProblemType("method-not-allowed", 405, "The method is not allowed here");
    public static final ProblemType INVALID_STATE =
            new ProblemType("invalid-state", 409, "Its state does not allow this");
    public static final ProblemType NOT_RETRYABLE = new ProblemType("not-retryable", 409, "Its failure is permanent");
    public static final ProblemType MAX_RETRIES_EXCEEDED =
            new ProblemType("max-retries-exceeded", 409, "All of its attempts are spent");
    public static final ProblemType KEY_TAKEN = new ProblemType("key-taken", 409, "Another live job holds its key");
    public static final ProblemType STALE_LEASE = new ProblemType("stale-lease", 409, "The lease is gone");
    public static final ProblemType CONFLICT = new ProblemType("conflict", 409, "Something else was there first");
    public static final ProblemType VERSION_MISMATCH =
            new ProblemType("version-mismatch", 412, "It has changed since it was read");
    public static final ProblemType TOO_LARGE = new ProblemType("too-large", 413, "The request is too large");
    public static final ProblemType UNSUPPORTED_MEDIA_TYPE =
            new ProblemType("unsupported-media-type", 415, "The body must be JSON");
    public static final ProblemType KEY_REUSED =
            new ProblemType("idempotency-key-reused", 422, "The idempotency key was used for another request");
    public static final ProblemType TOO_MANY_REQUESTS = new ProblemType("too-many-requests", 429, "Too many requests");
    public static final ProblemType QUOTA_EXCEEDED =
            new ProblemType("quota-exceeded", 429, "A quota of the tenant is used up");
    public static final ProblemType QUEUE_FULL = new ProblemType("queue-full", 429, "The queue is full");
    public static final ProblemType INTERNAL = new ProblemType("internal", 500, "The server failed");
    public static final ProblemType UNAVAILABLE =
            new ProblemType("unavailable", 503, "The server cannot do this at the moment");

    public String uri() {
        return "urn:reprise:problem:" + name;
    }
}
