// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.JobRequest;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.CheckedNames;
import io.reprise.text.SurrogatePairs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The values of a job that are fixed when it is stored. The payload is JSON text. Users build a spec through
 * {@link JobRequest}; this class is for stores. Immutable: every value is checked when it is set.
 *
 * @since 0.1.0
 */
public final class JobSpec {

    /** The queue of a job that names none. */
    public static final String DEFAULT_QUEUE = "default";

    /** The lowest priority. */
    public static final int MIN_PRIORITY = -9;

    /** The highest priority. */
    public static final int MAX_PRIORITY = 9;

    /** The greatest size of a payload or a result in UTF-8, as it is stored: 1 MiB. */
    public static final int MAX_PAYLOAD_BYTES = 1 << 20;

    /** The greatest length of a unique key, an idempotency key or its proof, in characters. */
    public static final int MAX_KEY = 250;

    /**
     * Ends the text under which a store keeps the unique key of a job that waits under {@link KeyRule#FOLLOW}. No key
     * of a caller ends so.
     */
    public static final String FOLLOWING = "\n";

    /** The greatest number of tags of a job. */
    public static final int MAX_TAGS = 10;

    /** The highest version of a payload. */
    public static final int MAX_VERSION = 9_999;

    private static final String VERSION = "version:";
    private static final Pattern VERSION_TAG = Pattern.compile(VERSION + "[1-9][0-9]{0,3}");

    /** The longest delay of a job, about a century. With this bound no sum of times overflows in any store. */
    public static final Duration MAX_DELAY = Duration.ofDays(36_500);

    /** The latest absolute due time of a job. With the longest deadline it ends in the year 9999, as stores need it. */
    public static final Instant MAX_DUE = Instant.parse("9899-12-31T23:59:59Z");

    /** JSON text never contains this character, and some databases cannot store it. */
    private static final char NUL = 0;

    /** The greatest length of a name, in characters. */
    public static final int MAX_NAME = 100;

    private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);

    private final Builder values;

    private JobSpec(Builder values) {
        this.values = values;
    }

    /**
     * Creates a builder with the defaults of all other values.
     *
     * @param type name of the job type
     * @param payload JSON text
     * @throws IllegalArgumentException if {@code type} is not a name, or the payload is too long or contains NUL
     */
    public static Builder builder(String type, String payload) {
        return new Builder(type, payload);
    }

    /** Creates a builder that starts with the values of this spec. */
    public Builder toBuilder() {
        return new Builder(values);
    }

    /**
     * Checks a name that is stored and shown: of a queue, type, resource, group, tag, worker or schedule. A name has 1 to
     * {@value #MAX_NAME} ASCII letters, digits or any of {@code _ . : / @ -}, and starts with a letter or digit.
     *
     * @param field the word for the name in the error message
     * @return the name
     * @throws IllegalArgumentException if {@code name} does not have this form
     */
    public static String requireName(String field, String name) {
        if (!isName(name)) {
            throw new IllegalArgumentException(
                    field + " '" + shorten(name)
                            + "' is not a name: 1 to 100 letters, digits or any of _ . : / @ -, starting with a letter or digit");
        }
        return name;
    }

    /** Written by hand and not as a regular expression, because every stored and every claimed job passes here. */
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

    /**
     * Cuts a text of a caller to 40 characters for an error message. Characters that cannot be seen are written with their
     * numbers: as they are, they would change the terminal or the log that shows the message.
     */
    static String shorten(String name) {
        StringBuilder text = new StringBuilder();
        name.chars().limit(40).forEach(c -> {
            boolean seen = !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT;
            text.append(seen ? String.valueOf((char) c) : String.format(Locale.ROOT, "\\u%04x", c));
        });
        return name.length() <= 40 ? text.toString() : text.append("…").toString();
    }

    /** Returns the name of the job type. */
    public String type() {
        return values.type;
    }

    /** Returns the payload as JSON text. */
    public String payload() {
        return values.payload;
    }

    /** Returns the name of the queue; {@value #DEFAULT_QUEUE} unless set. */
    public String queue() {
        return values.queue;
    }

    /** Returns the labels that the job needs of its worker; empty unless set. */
    public Set<String> needs() {
        return Needs.of(values.queue);
    }

    /** Returns the priority, {@value #MIN_PRIORITY} to {@value #MAX_PRIORITY}; 0 unless set. Higher runs first. */
    public int priority() {
        return values.priority;
    }

    /** Returns how long after it is stored the job is due. Zero if {@link #dueAt} is set. */
    public Duration delay() {
        return values.delay;
    }

    /**
     * Returns the absolute due time by the store's clock; null if {@link #delay} applies. A time in the past means now.
     */
    public @Nullable Instant dueAt() {
        return values.dueAt;
    }

    /** Returns the retry policy; {@link RetryPolicy#unset} unless set. */
    public RetryPolicy policy() {
        return values.policy;
    }

    /** Returns the name of the resource that the job calls; null if it names none. */
    public @Nullable String resource() {
        return values.resource;
    }

    /** Returns the group with which the job takes turns in its queue; null if it names none. */
    public @Nullable String group() {
        return values.group;
    }

    /**
     * Returns the tags in alphabetical order; empty unless set. A traced run that did not succeed adds its trace, see
     * {@link io.reprise.insight.TraceParent#ofRun}.
     */
    public Set<String> tags() {
        return values.tags;
    }

    /**
     * Returns the version of the payload, 1 to {@value #MAX_VERSION}; 1 unless set. A version above 1 is kept as a tag
     * such as {@code version:2}, so that jobs can be found by it.
     */
    public int version() {
        int version = 1;
        for (String tag : values.tags) {
            // Most tags are none, and every run asks.
            if (tag.startsWith(VERSION) && VERSION_TAG.matcher(tag).matches()) {
                version = Math.max(version, Integer.parseInt(tag.substring(VERSION.length())));
            }
        }
        return version;
    }

    /** Returns the unique key, which at most one live job holds; null if there is none. */
    public @Nullable String key() {
        return values.key;
    }

    /** Returns the rule for a unique key that a live job holds; {@link KeyRule#KEEP} unless set. */
    public KeyRule keyRule() {
        return values.keyRule;
    }

    /**
     * Returns the idempotency key as it is stored, by which a repeated request finds the first job; null if there is
     * none. A key that belongs to one type is stored behind the name of the type and a line break.
     */
    public @Nullable String idempotencyKey() {
        return values.idempotencyKey;
    }

    /**
     * Returns the proof that belongs to the idempotency key; null if there is none, and in every spec that was read
     * from a store.
     */
    public @Nullable String idempotencyProof() {
        return values.idempotencyProof;
    }

    /**
     * Returns how long after the waiting job was first stored its replacement is due at the latest; null for no bound,
     * and in every spec that was read from a store. It applies under {@link KeyRule#REPLACE} only.
     */
    public @Nullable Duration atLatest() {
        return values.atLatest;
    }

    /** Returns the time limit of one run; null for no limit. */
    public @Nullable Duration timeout() {
        return values.timeout;
    }

    /** Returns the name of the schedule that created the job; null if no schedule did. */
    public @Nullable String schedule() {
        return values.schedule;
    }

    /**
     * Returns the jobs that follow this one, as JSON text that the engine writes and reads; null if none follows and the
     * job follows none.
     */
    public @Nullable String chain() {
        return values.chain;
    }

    /**
     * Returns the batch that the job is a member of, as text that {@code Membership} writes and reads; null if it is in
     * none.
     */
    public @Nullable String batch() {
        return values.batch;
    }

    /**
     * Returns whether a running member of the batch adds this job, so that the batch may be closed already. It is not
     * stored.
     */
    public boolean isSibling() {
        return values.sibling;
    }

    /**
     * Compares all values that a store keeps: all but the proof of the idempotency key, {@link #atLatest} and
     * {@link #isSibling}.
     */
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

    /**
     * Builds a {@link JobSpec}. Each method checks its value at once, and the last call of a method wins. Not
     * thread-safe.
     */
    public static final class Builder {
        private final String type;
        private String payload;
        private String queue = DEFAULT_QUEUE;
        private int priority;
        private Duration delay = Duration.ZERO;
        private @Nullable Instant dueAt;
        private RetryPolicy policy = RetryPolicy.unset();
        private @Nullable String resource;
        private @Nullable String group;
        private Set<String> tags = Set.of();
        private @Nullable String key;
        private KeyRule keyRule = KeyRule.KEEP;
        private @Nullable String idempotencyKey;
        private @Nullable String idempotencyProof;
        private @Nullable Duration atLatest;
        private @Nullable Duration timeout;
        private @Nullable String schedule;
        private @Nullable String chain;
        private @Nullable String batch;
        private boolean sibling;

        private Builder(String type, String payload) {
            this.type = requireName("type", type);
            this.payload = requireJson("payload", payload);
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
            this.group = from.group;
            this.tags = from.tags;
            this.key = from.key;
            this.keyRule = from.keyRule;
            this.idempotencyKey = from.idempotencyKey;
            this.idempotencyProof = from.idempotencyProof;
            this.atLatest = from.atLatest;
            this.timeout = from.timeout;
            this.schedule = from.schedule;
            this.chain = from.chain;
            this.batch = from.batch;
            this.sibling = from.sibling;
        }

        /**
         * Sets the payload.
         *
         * @param json JSON text of at most {@value #MAX_PAYLOAD_BYTES} bytes in UTF-8; only its length and NUL are
         *     checked
         * @throws IllegalArgumentException if the text is too long or contains NUL
         */
        public Builder payload(String json) {
            this.payload = requireJson("payload", json);
            return this;
        }

        /**
         * Sets the queue. The default is {@value #DEFAULT_QUEUE}.
         *
         * @throws IllegalArgumentException if {@code name} does not have the form of {@link #requireName}
         */
        public Builder queue(String name) {
            this.queue = requireName("queue", name);
            return this;
        }

        /**
         * Names what the job needs of its worker, in place of what was named before. The default is nothing. Call it after
         * {@link #queue}: jobs with needs wait in a queue of their own, see {@link Needs}.
         *
         * @throws IllegalArgumentException if a label is refused, there are too many, or the names together are too long
         */
        public Builder needs(Collection<String> labels) {
            this.queue = Needs.queue(queue, labels);
            return this;
        }

        /**
         * Sets the priority. The default is 0.
         *
         * @param level {@value #MIN_PRIORITY} to {@value #MAX_PRIORITY}; higher runs first
         * @throws IllegalArgumentException if {@code level} is outside these bounds
         */
        public Builder priority(int level) {
            if (level < MIN_PRIORITY || level > MAX_PRIORITY) {
                throw new IllegalArgumentException(
                        "priority must be " + MIN_PRIORITY + " to " + MAX_PRIORITY + ", not " + level);
            }
            this.priority = level;
            return this;
        }

        /**
         * Makes the job due this long after it is stored. The default is zero. Replaces {@link #dueAt}.
         *
         * @param delay 0 to {@link #MAX_DELAY}
         * @throws IllegalArgumentException if {@code delay} is outside these bounds
         */
        public Builder delay(Duration delay) {
            if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0) {
                throw new IllegalArgumentException("delay must be 0 to " + MAX_DELAY + ", not " + delay);
            }
            this.delay = delay;
            this.dueAt = null;
            return this;
        }

        /**
         * Makes the job due at this time, by the store's clock. Replaces {@link #delay}.
         *
         * @param instant at most {@link #MAX_DUE}; a time in the past means now
         * @throws IllegalArgumentException if {@code instant} is later
         * @throws NullPointerException if {@code instant} is null
         */
        public Builder dueAt(Instant instant) {
            Objects.requireNonNull(instant, "dueAt");
            if (instant.isAfter(MAX_DUE)) {
                throw new IllegalArgumentException("dueAt must be at most " + MAX_DUE + ", not " + instant);
            }
            // No store holds times before the epoch. They are in the past, so they mean now as well.
            this.dueAt = instant.isBefore(Instant.EPOCH) ? Instant.EPOCH : instant;
            this.delay = Duration.ZERO;
            return this;
        }

        /**
         * Sets the retry policy. The default is {@link RetryPolicy#unset}.
         *
         * @throws NullPointerException if {@code policy} is null
         */
        public Builder policy(RetryPolicy policy) {
            this.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Sets the resource that the job calls; null, the default, for none.
         *
         * @throws IllegalArgumentException if {@code name} does not have the form of {@link #requireName}
         */
        public Builder resource(@Nullable String name) {
            this.resource = name == null ? null : requireName("resource", name);
            return this;
        }

        /**
         * Sets the group with which the job takes turns in its queue; null, the default, for none.
         *
         * @throws IllegalArgumentException if {@code name} does not have the form of {@link #requireName}
         */
        public Builder group(@Nullable String name) {
            this.group = name == null ? null : requireName("group", name);
            return this;
        }

        /**
         * Sets the tags and replaces all earlier ones. The default is no tag.
         *
         * @param tags at most {@value #MAX_TAGS}
         * @throws IllegalArgumentException if there are more tags, or a tag does not have the form of
         *     {@link #requireName}
         */
        public Builder tags(Set<String> tags) {
            if (tags instanceof CheckedNames) {
                this.tags = tags;
                return this;
            }
            if (tags.size() > MAX_TAGS) {
                throw new IllegalArgumentException("tags must be at most " + MAX_TAGS + ", not " + tags.size());
            }
            tags.forEach(tag -> requireName("tag", tag));
            this.tags = tags.isEmpty() ? Set.of() : new CheckedNames(tags);
            return this;
        }

        /**
         * Sets the version of the payload: a tag beside the others, in place of another version.
         *
         * @param version 1 to {@value #MAX_VERSION}
         * @throws IllegalArgumentException if {@code version} is outside these bounds, or there is no room for a tag
         */
        public Builder version(int version) {
            if (version < 1 || version > MAX_VERSION) {
                throw new IllegalArgumentException("version must be 1 to " + MAX_VERSION + ", not " + version);
            }
            Set<String> others = new TreeSet<>(tags);
            others.removeIf(tag -> VERSION_TAG.matcher(tag).matches());
            if (version > 1) {
                if (others.size() == MAX_TAGS) {
                    throw new IllegalArgumentException("tags must be at most " + (MAX_TAGS - 1)
                            + " beside the version of the payload, not " + others.size());
                }
                others.add(VERSION + version);
            }
            return tags(others);
        }

        /**
         * Sets the unique key and its rule. The default is no key.
         *
         * @param key 1 to {@value #MAX_KEY} characters, one less under {@link KeyRule#FOLLOW}, not blank, without NUL
         *     and half surrogate pairs, no line break at the end; null for none
         * @throws IllegalArgumentException if {@code key} does not have this form
         */
        public Builder key(@Nullable String key, KeyRule rule) {
            this.key = requireKey("key", key);
            if (key != null && key.endsWith(FOLLOWING)) {
                throw new IllegalArgumentException("key must not end with a line break");
            }
            if (key != null && rule == KeyRule.FOLLOW && key.length() == MAX_KEY) {
                throw new IllegalArgumentException(
                        "key must have at most " + (MAX_KEY - 1) + " characters under FOLLOW, not " + key.length());
            }
            this.keyRule = rule;
            return this;
        }

        /**
         * Sets the idempotency key without a proof. The default is no key.
         *
         * @param key 1 to {@value #MAX_KEY} characters, not blank, without NUL and half surrogate pairs; null for none
         * @throws IllegalArgumentException if {@code key} does not have this form
         */
        public Builder idempotencyKey(@Nullable String key) {
            return idempotencyKey(key, null);
        }

        /**
         * Sets the idempotency key with a proof of the request that it is used for. A store refuses the key with
         * another proof.
         *
         * @param key 1 to {@value #MAX_KEY} characters, not blank, without NUL and half surrogate pairs; null for none
         * @param proof unique to the key and the request, such as a hash of both; same form as the key. A store keeps
         *     it with the key, and does not return it with a spec
         * @throws IllegalArgumentException if {@code key} or {@code proof} does not have this form
         */
        public Builder idempotencyKey(@Nullable String key, @Nullable String proof) {
            this.idempotencyKey = requireKey("idempotencyKey", key);
            this.idempotencyProof = requireKey("idempotencyProof", proof);
            return this;
        }

        /**
         * Bounds the due time of a job that replaces a waiting one: at the latest this long after that one was first
         * stored. The default is no bound. Only {@link KeyRule#REPLACE} looks at it, and it is not stored.
         *
         * @param bound 0 to {@link #MAX_DELAY}; null for none
         * @throws IllegalArgumentException if {@code bound} is outside these bounds
         */
        public Builder atLatest(@Nullable Duration bound) {
            if (bound != null && (bound.isNegative() || bound.compareTo(MAX_DELAY) > 0)) {
                throw new IllegalArgumentException("atLatest must be 0 to " + MAX_DELAY + ", not " + bound);
            }
            this.atLatest = bound;
            return this;
        }

        /**
         * Sets the time limit of one run; null, the default, for none.
         *
         * @param timeout 1 ms to {@link #MAX_DELAY}
         * @throws IllegalArgumentException if {@code timeout} is outside these bounds
         */
        public Builder timeout(@Nullable Duration timeout) {
            if (timeout != null && (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_DELAY) > 0)) {
                throw new IllegalArgumentException("timeout must be 1 ms to " + MAX_DELAY + ", not " + timeout);
            }
            this.timeout = timeout;
            return this;
        }

        /**
         * Sets the name of the schedule that creates the job; null, the default, for none.
         *
         * @throws IllegalArgumentException if {@code name} does not have the form of {@link #requireName}
         */
        public Builder schedule(@Nullable String name) {
            this.schedule = name == null ? null : requireName("schedule", name);
            return this;
        }

        /**
         * Sets the jobs that follow this one; null, the default, for none.
         *
         * @param json JSON text of at most {@value #MAX_PAYLOAD_BYTES} bytes in UTF-8; only its length and NUL are
         *     checked
         * @throws IllegalArgumentException if the text is too long or contains NUL
         */
        public Builder chain(@Nullable String json) {
            this.chain = json == null ? null : requireJson("chain", json);
            return this;
        }

        /**
         * Makes the job a member of a batch; null, the default, for none. A store counts it when it is stored and when it
         * ends.
         *
         * @param member text of {@code Membership}; only its length and NUL are checked
         * @throws IllegalArgumentException if the text is too long or contains NUL
         */
        public Builder batch(@Nullable String member) {
            this.batch = requireKey("batch", member);
            return this;
        }

        /** Says that a running member of the batch adds this job. It is not stored. */
        public Builder sibling(boolean yes) {
            this.sibling = yes;
            return this;
        }

        /** Creates the spec. Later changes of this builder do not change it. */
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
                    group,
                    tags,
                    key,
                    keyRule,
                    idempotencyKey,
                    timeout,
                    schedule,
                    chain,
                    batch);
        }

        private static @Nullable String requireKey(String field, @Nullable String key) {
            if (key != null && (key.isBlank() || key.length() > MAX_KEY || key.indexOf(NUL) >= 0)) {
                throw new IllegalArgumentException(
                        field + " must have 1 to " + MAX_KEY + " characters, none of them NUL, not " + key.length());
            }
            if (key != null && !SurrogatePairs.areWhole(key)) {
                throw new IllegalArgumentException(field + " must not have half of a surrogate pair");
            }
            return key;
        }

        private static String requireJson(String field, String json) {
            // A char is at most 3 bytes, so the exact size needs counting only for texts that might be too long.
            if (json.length() > MAX_PAYLOAD_BYTES / 3) {
                int bytes = json.getBytes(StandardCharsets.UTF_8).length;
                if (bytes > MAX_PAYLOAD_BYTES) {
                    throw new IllegalArgumentException(field + " has " + bytes + " bytes; at most " + MAX_PAYLOAD_BYTES
                            + " are stored. Keep large data elsewhere and pass a reference.");
                }
            }
            if (json.indexOf(NUL) >= 0) {
                throw new IllegalArgumentException(field + " contains a NUL character, which is not JSON: escape it");
            }
            return json;
        }
    }

    /**
     * The labels that a job needs of its worker, such as {@code gpu}. Jobs with the same needs wait in a queue of their own
     * beside the queue that they name: those of {@code mail} that need {@code eu} and {@code gpu} wait in
     * {@code mail@needs:eu:gpu}. So no claim reads past jobs that its worker may not take, and jobs without needs cost nothing.
     *
     * @since 0.1.0
     */
    public static final class Needs {

        /** The greatest number of labels of a job, and of a worker. */
        public static final int MAX_LABELS = 8;

        /** Stands between the queue that a job names and its needs. */
        private static final String BESIDE = "@needs:";

        private static final char BETWEEN = ':';

        private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,29}");

        private Needs() {}

        /**
         * Checks labels, and sorts them.
         *
         * @throws IllegalArgumentException if a label is not 1 to 30 letters, digits or any of {@code _ . -}, or there are more
         *     than {@value #MAX_LABELS}
         */
        public static SortedSet<String> require(Collection<String> labels) {
            SortedSet<String> sorted = new TreeSet<>(labels);
            for (String label : sorted) {
                if (!LABEL.matcher(label).matches()) {
                    throw new IllegalArgumentException("label '" + shorten(label)
                            + "' is not 1 to 30 letters, digits or any of _ . -, starting with a letter or digit");
                }
            }
            if (sorted.size() > MAX_LABELS) {
                throw new IllegalArgumentException("at most " + MAX_LABELS + " labels, not " + sorted.size());
            }
            return sorted;
        }

        /**
         * Returns the queue in which jobs with these needs wait.
         *
         * @param queue the queue that they name, or one that this method returned, whose needs are replaced
         * @throws IllegalArgumentException if a label is refused, or the name would be too long
         */
        public static String queue(String queue, Collection<String> labels) {
            SortedSet<String> sorted = require(labels);
            String base = base(queue);
            return sorted.isEmpty()
                    ? base
                    : requireName("queue", base + BESIDE + String.join(String.valueOf(BETWEEN), sorted));
        }

        /** Returns the labels that jobs of this queue need; empty if they need none. */
        public static Set<String> of(String queue) {
            int at = queue.indexOf(BESIDE);
            return at < 0
                    ? Set.of()
                    : new TreeSet<>(
                            List.of(queue.substring(at + BESIDE.length()).split(String.valueOf(BETWEEN), -1)));
        }

        /** Returns the name of the queue without the needs. */
        public static String base(String queue) {
            int at = queue.indexOf(BESIDE);
            return at < 0 ? queue : queue.substring(0, at);
        }

        /** Returns whether a worker that offers these labels may run jobs of this queue. */
        public static boolean areOffered(String queue, Set<String> offers) {
            return queue.indexOf(BESIDE) < 0 || offers.containsAll(of(queue));
        }

        /** Returns the text before which all queues with needs beside this one come, in the order of names. */
        public static String after(String queue) {
            return queue + BESIDE;
        }

        /** Returns a text behind all queues with needs beside this one, in the order of names. */
        public static String before(String queue) {
            return queue + BESIDE.substring(0, BESIDE.length() - 1) + (char) (BETWEEN + 1);
        }
    }
}
