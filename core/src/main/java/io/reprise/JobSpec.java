// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.RetryPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for: everything about a job that is fixed when it is stored. The payload is JSON text already; users
 * build one through {@link JobRequest}. Immutable; every value is checked when it is set.
 */
public final class JobSpec {

    public static final String DEFAULT_QUEUE = "default";
    public static final int MIN_PRIORITY = -9;
    public static final int MAX_PRIORITY = 9;
    public static final int MAX_PAYLOAD_BYTES = 1 << 20;
    public static final int MAX_KEY = 250;
    public static final int MAX_TAGS = 10;

    /** A century: as far ahead as a job may be delayed, so that no sum of times overflows in any store. */
    public static final Duration MAX_DELAY = Duration.ofDays(36_500);

    /** No JSON text contains it, and not every database can store it. */
    private static final char NUL = 0;

    public static final int MAX_NAME = 100;

    private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);

    private final Builder values;

    private JobSpec(Builder values) {
        this.values = values;
    }

    public static Builder builder(String type, String payload) {
        return new Builder(type, payload);
    }

    /** A builder that starts from these values. */
    public Builder toBuilder() {
        return new Builder(values);
    }

    /**
     * Checks a name that is stored and shown: of a queue, type, resource, tag or schedule.
     *
     * @throws IllegalArgumentException naming the field and the allowed form
     */
    public static String requireName(String field, String name) {
        if (!isName(name)) {
            throw new IllegalArgumentException(
                    field + " '" + shorten(name)
                            + "' is not a name: 1 to 100 letters, digits or any of _ . : / @ -, starting with a letter or digit");
        }
        return name;
    }

    /** By hand: every stored and every claimed job passes here. */
    private static boolean isName(String name) {
        if (name.isEmpty() || name.length() > MAX_NAME || !isAlphanumeric(name.charAt(0))) {
            return false;
        }
        for (int i = 1; i < name.length(); i++) {
            char c = name.charAt(i);
            if (!isAlphanumeric(c) && "_.:/@-".indexOf(c) < 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAlphanumeric(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }

    /** Enough of a text that somebody else wrote to see what it is. */
    static String shorten(String name) {
        return name.length() <= 40 ? name : name.substring(0, 40) + "…";
    }

    public String type() {
        return values.type;
    }

    public String payload() {
        return values.payload;
    }

    public String queue() {
        return values.queue;
    }

    /** Higher runs first; {@value #MIN_PRIORITY} to {@value #MAX_PRIORITY}. */
    public int priority() {
        return values.priority;
    }

    /** How long after the store's now the job is due, unless {@link #dueAt} is set. */
    public Duration delay() {
        return values.delay;
    }

    /** Absolute due time by the store's clock; one in the past means now. */
    public @Nullable Instant dueAt() {
        return values.dueAt;
    }

    public RetryPolicy policy() {
        return values.policy;
    }

    /** The downstream thing this job calls. */
    public @Nullable String resource() {
        return values.resource;
    }

    public Set<String> tags() {
        return values.tags;
    }

    /** At most one live job holds a unique key. */
    public @Nullable String key() {
        return values.key;
    }

    public KeyRule keyRule() {
        return values.keyRule;
    }

    /** Enqueueing again with the same idempotency key returns the first job, even a finished one, while it is kept. */
    public @Nullable String idempotencyKey() {
        return values.idempotencyKey;
    }

    /** How long one run may take. */
    public @Nullable String idempotencyProof() {
        return values.idempotencyProof;
    }

    public @Nullable Duration timeout() {
        return values.timeout;
    }

    /** Name of the schedule that created the job. */
    public @Nullable String schedule() {
        return values.schedule;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JobSpec spec && values.fields().equals(spec.values.fields());
    }

    @Override
    public int hashCode() {
        return values.fields().hashCode();
    }

    @Override
    public String toString() {
        return "JobSpec[" + values.type + " on " + values.queue + "]";
    }

    /** Not thread-safe; {@link #build} copies. */
    public static final class Builder {
        private final String type;
        private String payload;
        private String queue = DEFAULT_QUEUE;
        private int priority;
        private Duration delay = Duration.ZERO;
        private @Nullable Instant dueAt;
        private RetryPolicy policy = RetryPolicy.unset();
        private @Nullable String resource;
        private Set<String> tags = Set.of();
        private @Nullable String key;
        private KeyRule keyRule = KeyRule.KEEP;
        private @Nullable String idempotencyKey;
        private @Nullable String idempotencyProof;
        private @Nullable Duration timeout;
        private @Nullable String schedule;

        private Builder(String type, String payload) {
            this.type = requireName("type", type);
            this.payload = requirePayload(payload);
        }

        private Builder(Builder from) {
            this.type = from.type;
            this.payload = from.payload;
            this.queue = from.queue;
            this.priority = from.priority;
            this.delay = from.delay;
            this.dueAt = from.dueAt;
            this.policy = from.policy;
            this.resource = from.resource;
            this.tags = from.tags;
            this.key = from.key;
            this.keyRule = from.keyRule;
            this.idempotencyKey = from.idempotencyKey;
            this.idempotencyProof = from.idempotencyProof;
            this.timeout = from.timeout;
            this.schedule = from.schedule;
        }

        public Builder payload(String json) {
            this.payload = requirePayload(json);
            return this;
        }

        public Builder queue(String name) {
            this.queue = requireName("queue", name);
            return this;
        }

        public Builder priority(int level) {
            if (level < MIN_PRIORITY || level > MAX_PRIORITY) {
                throw new IllegalArgumentException(
                        "priority must be " + MIN_PRIORITY + " to " + MAX_PRIORITY + ", not " + level);
            }
            this.priority = level;
            return this;
        }

        public Builder delay(Duration delay) {
            if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0) {
                throw new IllegalArgumentException("delay must be 0 to " + MAX_DELAY + ", not " + delay);
            }
            this.delay = delay;
            this.dueAt = null;
            return this;
        }

        public Builder dueAt(Instant instant) {
            this.dueAt = Objects.requireNonNull(instant, "dueAt");
            this.delay = Duration.ZERO;
            return this;
        }

        public Builder policy(RetryPolicy policy) {
            this.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        public Builder resource(@Nullable String name) {
            this.resource = name == null ? null : requireName("resource", name);
            return this;
        }

        public Builder tags(Set<String> tags) {
            if (tags.size() > MAX_TAGS) {
                throw new IllegalArgumentException("tags must be at most " + MAX_TAGS + ", not " + tags.size());
            }
            tags.forEach(tag -> requireName("tag", tag));
            this.tags = java.util.Collections.unmodifiableSortedSet(new TreeSet<>(tags));
            return this;
        }

        public Builder key(@Nullable String key, KeyRule rule) {
            this.key = requireKey("key", key);
            this.keyRule = rule;
            return this;
        }

        public Builder idempotencyKey(@Nullable String key) {
            return idempotencyKey(key, null);
        }

        /**
         * A key with a proof of what it is used for.
         *
         * @param proof unique to the key and the request, such as a hash of both; with another the key is refused. It is kept with
         *     the key, and is no part of a spec that is read
         */
        public Builder idempotencyKey(@Nullable String key, @Nullable String proof) {
            this.idempotencyKey = requireKey("idempotencyKey", key);
            this.idempotencyProof = requireKey("idempotencyProof", proof);
            return this;
        }

        public Builder timeout(@Nullable Duration timeout) {
            if (timeout != null && (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_DELAY) > 0)) {
                throw new IllegalArgumentException("timeout must be 1 ms to " + MAX_DELAY + ", not " + timeout);
            }
            this.timeout = timeout;
            return this;
        }

        public Builder schedule(@Nullable String name) {
            this.schedule = name == null ? null : requireName("schedule", name);
            return this;
        }

        public JobSpec build() {
            return new JobSpec(new Builder(this));
        }

        private java.util.List<Object> fields() {
            return java.util.Arrays.asList(
                    type,
                    payload,
                    queue,
                    priority,
                    delay,
                    dueAt,
                    policy,
                    resource,
                    tags,
                    key,
                    keyRule,
                    idempotencyKey,
                    timeout,
                    schedule);
        }

        private static @Nullable String requireKey(String field, @Nullable String key) {
            if (key != null && (key.isBlank() || key.length() > MAX_KEY || key.indexOf(NUL) >= 0)) {
                throw new IllegalArgumentException(
                        field + " must have 1 to " + MAX_KEY + " characters, none of them NUL, not " + key.length());
            }
            return key;
        }

        private static String requirePayload(String payload) {
            // A char is at most 3 bytes, so the exact size needs counting only for payloads that might be too long.
            if (payload.length() > MAX_PAYLOAD_BYTES / 3) {
                int bytes = payload.getBytes(StandardCharsets.UTF_8).length;
                if (bytes > MAX_PAYLOAD_BYTES) {
                    throw new IllegalArgumentException("payload has " + bytes + " bytes; at most " + MAX_PAYLOAD_BYTES
                            + " are stored. Keep large data elsewhere and pass a reference.");
                }
            }
            if (payload.indexOf(NUL) >= 0) {
                throw new IllegalArgumentException("payload contains a NUL character, which is not JSON: escape it");
            }
            return payload;
        }
    }
}
