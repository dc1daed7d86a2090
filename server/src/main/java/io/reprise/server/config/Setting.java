// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A setting of the program. In a file it is {@code http.port}, in the environment {@code REPRISE_HTTP_PORT} and on the
 * command line {@code --http-port}.
 */
public enum Setting {
    STORE_URL(
            "store.url",
            "sqlite:reprise.db",
            "Where jobs live: sqlite:FILE, postgresql://USER@HOST/DATABASE, or mariadb://, mysql:// or mongodb:// likewise.",
            Kind.TEXT),
    STORE_POOL(
            "store.pool", "8", "Connections to the database at most; not for SQLite and MongoDB.", Kind.NUMBER, 2, 100),
    STORE_POOLER(
            "store.pooler",
            "false",
            "Whether a pooler in transaction mode such as PgBouncer stands before PostgreSQL.",
            Kind.FLAG),
    STORE_MIGRATE(
            "store.migrate",
            "true",
            "Whether the start migrates the schema: true, check to refuse one that is behind, or false.",
            Kind.TEXT),
    STORE_DEAD_LETTERS(
            "store.dead-letters",
            null,
            "Collection of MongoDB that dead letters are moved to, such as tasks_dlq; the database remembers it.",
            Kind.TEXT),
    HTTP_HOST("http.host", "127.0.0.1", "Address to listen on; 0.0.0.0 for all.", Kind.TEXT),
    HTTP_PORT("http.port", "8080", "Port to listen on; 0 for any free one.", Kind.NUMBER, 0, 65_535),
    HTTP_MAX_BODY("http.max-body", "10485760", "Bytes a request's body may have.", Kind.NUMBER, 1_024, 1 << 30),
    HTTP_MAX_HEADER("http.max-header", "16384", "Bytes a request's headers may have.", Kind.NUMBER, 1_024, 1 << 20),
    HTTP_MAX_CONNECTIONS("http.max-connections", "2000", "Connections open at once.", Kind.NUMBER, 1, 1_000_000),
    HTTP_MAX_CONNECTIONS_PER_ADDRESS(
            "http.max-connections-per-address",
            "1000",
            "Connections of one address that is not a trusted proxy.",
            Kind.NUMBER,
            1,
            1_000_000),
    HTTP_IDLE_TIMEOUT("http.idle-timeout", "30s", "How long a connection may be silent.", Kind.DURATION),
    HTTP_DRAIN(
            "http.drain",
            "0s",
            "How long the server says that it is not ready before it stops listening.",
            Kind.DURATION),
    HTTP_THREADS("http.threads", "64", "Threads that work on requests.", Kind.NUMBER, 8, 10_000),
    HTTP_TRUSTED_PROXIES(
            "http.trusted-proxies",
            null,
            "Addresses and ranges of proxies whose Forwarded and X-Forwarded-For headers count, with commas between.",
            Kind.TEXT),
    HTTP_PROXY_PROTOCOL(
            "http.proxy-protocol", "false", "Whether a proxy tells by the PROXY protocol who connects.", Kind.FLAG),
    HTTP_RATE_LIMIT("http.rate-limit", "2000", "Requests per second of one key or address.", Kind.NUMBER, 1, 1_000_000),
    QUOTA_JOBS("quota.jobs", "1000000", "Jobs of a tenant that may wait.", Kind.NUMBER, 0, Integer.MAX_VALUE),
    QUOTA_BYTES(
            "quota.bytes",
            "10000000000",
            "Bytes of payloads, results, steps and log lines that a tenant may have stored.",
            Kind.LARGE_NUMBER),
    QUOTA_QUEUES("quota.queues", "1000", "Queues that a tenant may have.", Kind.NUMBER, 0, Integer.MAX_VALUE),
    QUOTA_SCHEDULES("quota.schedules", "1000", "Schedules that a tenant may have.", Kind.NUMBER, 0, Integer.MAX_VALUE),
    QUOTA_WEBHOOKS("quota.webhooks", "100", "Webhooks that a tenant may have.", Kind.NUMBER, 0, Integer.MAX_VALUE),
    QUOTA_STREAMS(
            "quota.streams", "50", "Streams of events that a tenant may read.", Kind.NUMBER, 0, Integer.MAX_VALUE),
    QUOTA_JOBS_PER_SECOND(
            "quota.jobs-per-second",
            "5000",
            "Jobs per second that a tenant may enqueue; twice as many at once.",
            Kind.NUMBER,
            1,
            Integer.MAX_VALUE),
    QUOTA_BYTES_PER_SECOND(
            "quota.bytes-per-second",
            "20000000",
            "Bytes of payloads per second that a tenant may enqueue; twice as many at once.",
            Kind.NUMBER,
            1,
            Integer.MAX_VALUE),
    TLS_KEY_STORE("tls.key-store", null, "PKCS #12 file with the certificate and its key.", Kind.TEXT),
    TLS_CERTIFICATE(
            "tls.certificate", null, "PEM file with the certificate and those above it; with tls.key.", Kind.TEXT),
    TLS_KEY("tls.key", null, "PEM file with the private key of the certificate.", Kind.TEXT),
    TLS_CLIENT_CA(
            "tls.client-ca",
            null,
            "PEM file with those that vouch for clients; then a key counts only with a certificate of theirs.",
            Kind.TEXT),
    TLS_PASSWORD("tls.password", null, "Password of the key store.", Kind.TEXT),
    ADMIN_KEY(
            "admin.key",
            null,
            "Admin key of a new store, reprise_ with 12 and 64 hexadecimal digits; made up and printed unless set.",
            Kind.TEXT),
    OIDC_ISSUER("oidc.issuer", null, "OpenID provider whose tokens count beside keys: its URL.", Kind.TEXT),
    OIDC_AUDIENCE("oidc.audience", null, "What tokens must be for; with oidc.issuer.", Kind.TEXT),
    OIDC_SCOPES_CLAIM(
            "oidc.scopes-claim", "reprise_scopes", "Claim with scopes: a list, or with spaces between.", Kind.TEXT),
    OIDC_TENANT_CLAIM(
            "oidc.tenant-claim", "reprise_tenant", "Claim with the tenant; * for no tenant in particular.", Kind.TEXT),
    SERVER_URL("server.url", "http://127.0.0.1:8080", "The server that commands talk to.", Kind.TEXT),
    SERVER_KEY("server.key", null, "The API key that commands show to the server.", Kind.TEXT),
    WORKER_NAME("worker.name", null, "Name of this process, unique in the fleet; made up unless set.", Kind.TEXT),
    WORKER_CONCURRENCY("worker.concurrency", "100", "Calls this process makes at once.", Kind.NUMBER, 1, 10_000),
    WORKER_OFFERS(
            "worker.offers",
            null,
            "What this process offers to jobs that need it: labels with commas between.",
            Kind.TEXT),
    WORKER_STOP_GRACE(
            "worker.stop-grace", "6s", "How long running jobs may finish when the server stops.", Kind.DURATION),
    WORKER_LEASE("worker.lease", "30s", "How long a silent worker keeps its jobs.", Kind.DURATION),
    BUDGET_CAPACITY(
            "budget.capacity",
            "500",
            "Retry budget of each resource: tokens at most; a retry costs 14.",
            Kind.NUMBER,
            14,
            1_000_000_000),
    BUDGET_FLOOR(
            "budget.floor",
            "1",
            "Retries per second of a resource that are granted whatever happens.",
            Kind.NUMBER,
            1,
            1_000_000),
    RETRY_POLICY(
            "retry.policy",
            null,
            "Retry policy of jobs that say nothing else: the name of a preset, or JSON.",
            Kind.TEXT),
    RETRY_MAX_RETRIES(
            "retry.max-retries", null, "Retries after the first attempt of such jobs.", Kind.NUMBER, 0, 999_999),
    RETRY_BASE_DELAY("retry.base-delay", null, "Their delay before the first retry.", Kind.DURATION),
    RETRY_MAX_DELAY("retry.max-delay", null, "Their longest delay between two retries.", Kind.DURATION),
    RETRY_ENABLED("retry.enabled", null, "Whether failures are retried at all; true unless set.", Kind.FLAG),
    RETRY_CHECK_INTERVAL(
            "retry.check-interval", null, "Longest time between two looks for due jobs; 1s unless set.", Kind.DURATION),
    ALERT_WINDOW("alert.window", null, "Minutes over which alerts count; 10 unless set.", Kind.NUMBER, 1, 60),
    ALERT_RETRY_PERCENT(
            "alert.retry-percent",
            null,
            "Alert when more of the jobs are retried; 10 unless set, 100 for never.",
            Kind.NUMBER,
            0,
            100),
    ALERT_RETRY_COUNT(
            "alert.retry-count",
            null,
            "Alert when a type has more retries; 10 unless set.",
            Kind.NUMBER,
            0,
            Integer.MAX_VALUE),
    ALERT_DEAD_LETTERS(
            "alert.dead-letters",
            null,
            "Alert when a type has more dead letters; 10 unless set.",
            Kind.NUMBER,
            0,
            Integer.MAX_VALUE),
    ALERT_BACKOFF("alert.backoff", null, "Alert when retries wait longer on average; 10m unless set.", Kind.DURATION),
    CEILING_ATTEMPTS(
            "ceiling.attempts",
            null,
            "Attempts of a job at most, whatever its policy says; unlimited unless set.",
            Kind.NUMBER,
            1,
            1_000_000),
    CEILING_DEADLINE("ceiling.deadline", null, "Longest deadline of a job, whatever its policy says.", Kind.DURATION),
    CEILING_PAYLOAD(
            "ceiling.payload",
            null,
            "Largest payload that is enqueued, in bytes; 1048576 unless set.",
            Kind.NUMBER,
            1,
            1_048_576),
    CEILING_DEPTH(
            "ceiling.depth",
            null,
            "Pending and running jobs that a queue holds at most; then enqueueing answers 429.",
            Kind.NUMBER,
            1,
            100_000_000),
    LOG_FORMAT("log.format", "text", "Lines of the log: text, or json with job, type and attempt.", Kind.TEXT),
    LOG_LEVEL("log.level", "WARN", "Least level that is logged: DEBUG, INFO, WARN or ERROR.", Kind.TEXT),
    SETTINGS_FILE(
            "settings.file",
            null,
            "JSON file with settings of the fleet, as /v1/settings takes them; what the store has comes first.",
            Kind.TEXT),
    DELIVERY_ALLOW(
            "delivery.allow",
            null,
            "Special addresses, ranges and hosts that may be called nevertheless, with commas between.",
            Kind.TEXT),
    DELIVERY_PORTS(
            "delivery.ports",
            null,
            "Ports that may be called, with commas between; all unless set.",
            Kind.NUMBERS,
            1,
            65_535),
    DELIVERY_MAX_TIMEOUT("delivery.max-timeout", "60s", "What an http job's timeout may be at most.", Kind.DURATION),
    DELIVERY_SECRET(
            "delivery.secret", null, "Secrets that calls are signed with: whsec_…, with commas between.", Kind.TEXT),
    ENCRYPTION_KEYS(
            "encryption.keys",
            null,
            "Keys for payloads at rest: id:base64, with commas between; the first encrypts.",
            Kind.TEXT),
    KEEP_FINISHED("keep.finished", "7d", "How long succeeded and cancelled jobs are kept.", Kind.DURATION),
    KEEP_FAILED("keep.failed", null, "How long dead letters are kept; without limit unless set.", Kind.DURATION),
    AUDIT_READS("audit.reads", "false", "Whether the audit log tells who read payloads and results.", Kind.FLAG),
    KEEP_AUDIT("keep.audit", "365d", "How long the audit log is kept.", Kind.DURATION);

    /** The type of a value. */
    private enum Kind {
        TEXT,
        NUMBER,
        /** Not negative; may exceed four bytes. */
        LARGE_NUMBER,
        /** Several numbers with commas between. */
        NUMBERS,
        DURATION,
        FLAG
    }

    private final String key;
    private final @Nullable String otherwise;
    private final String about;
    private final Kind kind;
    private final int min;
    private final int max;

    Setting(String key, @Nullable String otherwise, String about, Kind kind) {
        this(key, otherwise, about, kind, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    Setting(String key, @Nullable String otherwise, String about, Kind kind, int min, int max) {
        this.key = key;
        this.otherwise = otherwise;
        this.about = about;
        this.kind = kind;
        this.min = min;
        this.max = max;
    }

    public String key() {
        return key;
    }

    public @Nullable String otherwise() {
        return otherwise;
    }

    public String about() {
        return about;
    }

    public String variable() {
        return "REPRISE_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    public String flag() {
        return "--" + key.replace('.', '-');
    }

    /** Whether the setting is for commands that talk to a server, rather than for the server. */
    public boolean isForCommands() {
        return this == SERVER_URL || this == SERVER_KEY;
    }

    /** Whether the value must never be shown. */
    public boolean isSecret() {
        return this == ADMIN_KEY
                || this == TLS_PASSWORD
                || this == SERVER_KEY
                || this == DELIVERY_SECRET
                || this == ENCRYPTION_KEYS;
    }

    /**
     * Checks a value.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    void check(String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException("is empty");
        }
        if (kind == Kind.FLAG && !value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("must be true or false, not '" + value + "'");
        }
        if (kind == Kind.NUMBER) {
            number(value);
        } else if (kind == Kind.LARGE_NUMBER) {
            largeNumber(value);
        } else if (kind == Kind.NUMBERS) {
            Arrays.stream(value.split(",", -1)).map(String::trim).forEach(this::number);
        } else if (kind == Kind.DURATION
                && this != HTTP_DRAIN
                && this != WORKER_STOP_GRACE
                && Durations.parse(value).isZero()) {
            throw new IllegalArgumentException("must be longer than nothing");
        }
    }

    private static void largeNumber(String value) {
        if (!value.matches("[0-9]{1,18}")) {
            throw new IllegalArgumentException("must be a number of up to 18 digits, not '" + value + "'");
        }
    }

    private void number(String value) {
        try {
            int number = Integer.parseInt(value);
            if (number >= min && number <= max) {
                return;
            }
        } catch (NumberFormatException e) {
            // Refused below, with the same message.
        }
        throw new IllegalArgumentException("must be a number from " + min + " to " + max + ", not '" + value + "'");
    }
}
