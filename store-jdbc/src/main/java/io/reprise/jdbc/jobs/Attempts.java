// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static io.reprise.jdbc.sql.ColumnArrays.Kind.NUMBER;
import static io.reprise.jdbc.sql.ColumnArrays.Kind.REAL;
import static io.reprise.jdbc.sql.ColumnArrays.Kind.TEXT;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.jdbc.sql.ColumnArrays;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Attempt;
import io.reprise.job.JobId;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the history of jobs in {@code reprise_attempt}. A success is not stored there: it is
 * read from the finished job.
 */
public final class Attempts {

    /** The columns that say how a run ended. */
    public static final String DETAILS =
            "ending, failure_class, failure_type, failure_code, failure_status, failure_message,"
                    + " failure_trace, fingerprint, retry_after_us, decision, decision_class, decision_rule, decision_reason,"
                    + " decision_delay_us, decision_raw_us, decision_counts, predicted_successes, predicted_tries,"
                    + " predicted_basis";

    public static final List<ColumnArrays.Kind> DETAIL_KINDS = List.of(
            TEXT, TEXT, TEXT, TEXT, NUMBER, TEXT, TEXT, TEXT, NUMBER, TEXT, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER,
            REAL, REAL, TEXT);

    private static final String INSERT = """
            insert into reprise_attempt (job_id, token, number, started_at, ended_at, worker, {details})
            values (?, ?, ?, ?, ?, ?, {values})
            """.replace("{details}", DETAILS)
            .replace("{values}", String.join(", ", Collections.nCopies(DETAIL_KINDS.size(), "?")));

    // The primary key of reprise_attempt serves both statements.
    private static final String TRIM = """
            {delete reprise_attempt by primary}
             where job_id = :job
               and token < (
                 select x.token
                   from (select token
                           from reprise_attempt
                          where job_id = :job
                          order by token desc
                          limit 1 offset :kept) x)
            """;

    private static final String FIND = """
            select number, token, worker, started_at, ended_at, {details}
              from reprise_attempt
             where job_id = ?
             order by token
            """.replace("{details}", DETAILS);

    // The primary key of reprise_attempt serves it.
    private static final String FAILURES = """
            select job_id, ended_at
              from reprise_attempt
             where job_id {in ?} and ending = 'FAILED'
             order by job_id, token
            """;

    private static final String SUCCESS = """
            select attempts, token, worker, started_at, finished_at
              from {finished}
             where id = ? and state = 'SUCCEEDED' and worker is not null and started_at is not null
            """;

    private final int kept;

    public Attempts(int kept) {
        this.kept = kept;
    }

    /**
     * The counters of a job after a settlement.
     *
     * @param attempts counted runs
     * @param claims all claims that left a trace
     */
    public record Ended(Settlement settlement, int attempts, int claims, String runner) {

        public static Ended of(Settlement settlement, Settlement.Effect effect, String runner) {
            return new Ended(settlement, effect.counts().attempts(), LiveCounters.claims(effect.counts()), runner);
        }
    }

    /** Writes the history of claims that did not end in success. The time is in microseconds. */
    public void write(Session session, List<Ended> ended, long at) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        List<Long> full = new ArrayList<>();
        for (Ended end : ended) {
            if (end.settlement().spent() != CountedAs.NOTHING) {
                rows.add(row(end, at));
                if (mayBeTooMany(end.claims())) {
                    full.add(end.settlement().job().value());
                }
            }
        }
        if (!rows.isEmpty()) {
            session.updateEach(INSERT, rows);
        }
        trim(session, full);
    }

    /** Deletes the oldest runs of several jobs beyond the kept number. */
    public void trim(Session session, List<Long> jobs) throws SQLException {
        if (!jobs.isEmpty()) {
            session.updateEachNamed(
                    session.dialect().sql(TRIM),
                    jobs.stream().map(this::trimmed).toList());
        }
    }

    private Params trimmed(long job) {
        return Params.of("job", job).and("kept", kept - 1);
    }

    int kept() {
        return kept;
    }

    public boolean mayBeTooMany(int claims) {
        return claims > kept;
    }

    /** Deletes the oldest runs beyond the kept number, whatever the job's counters say. */
    public void trim(Session session, JobId job) throws SQLException {
        session.update(session.dialect().sql(TRIM), trimmed(job.value()));
    }

    public List<Attempt> find(Session session, JobId job) throws SQLException {
        List<Attempt> found = new ArrayList<>(session.list(FIND, Attempts::read, job));
        found.addAll(session.list(
                session.dialect().sql(SUCCESS),
                row -> new Attempt(
                        row.integer(),
                        row.number(),
                        row.text(),
                        row.instant(),
                        row.instant(),
                        Attempt.Ending.SUCCEEDED,
                        null,
                        null),
                job));
        return found.size() <= kept ? found : List.copyOf(found.subList(found.size() - kept, found.size()));
    }

    public static Map<JobId, List<Instant>> failures(Session session, Collection<JobId> jobs) throws SQLException {
        Map<JobId, List<Instant>> failures = new HashMap<>();
        session.list(
                session.dialect().sql(FAILURES),
                row -> failures.computeIfAbsent(new JobId(row.number()), id -> new ArrayList<>())
                        .add(row.instant()),
                jobs.stream().mapToLong(JobId::value).toArray());
        return failures;
    }

    private static @Nullable Object[] row(Ended end, long at) {
        Settlement settlement = end.settlement();
        boolean counted = settlement.spent() == CountedAs.ATTEMPT;
        return JobInserts.concat(
                new @Nullable Object[] {
                    settlement.job(),
                    settlement.token(),
                    Math.max(1, counted ? end.attempts() : end.attempts() + 1),
                    at - SqlTime.of(settlement.ran()),
                    at,
                    end.runner()
                },
                details(settlement));
    }

    /** Returns how the run ended, in the order of {@link #DETAILS}. */
    public static @Nullable Object[] details(Settlement settlement) {
        Failure failure = settlement.failure();
        Decision decision = settlement.decision();
        Prediction prediction = decision == null ? null : decision.prediction();
        return new @Nullable Object[] {
            settlement.ending(),
            failure == null ? null : failure.given(),
            failure == null ? null : failure.type(),
            failure == null ? null : failure.code(),
            failure == null ? null : failure.httpStatus(),
            failure == null ? null : failure.message(),
            failure == null ? null : failure.trace(),
            failure == null ? null : failure.fingerprint(),
            failure == null ? null : SqlTime.ofNullable(failure.retryAfter()),
            decision == null ? null : kind(decision),
            decision == null ? null : decision.failureClass(),
            decision == null ? null : decision.rule(),
            decision instanceof Decision.Fail fail ? fail.reason() : null,
            decision == null ? null : SqlTime.ofNullable(delay(decision)),
            decision instanceof Decision.Retry retry ? SqlTime.of(retry.raw()) : null,
            decision instanceof Decision.Fail fail ? fail.counts() : null,
            prediction == null ? null : prediction.successes(),
            prediction == null ? null : prediction.tries(),
            prediction == null ? null : prediction.basis()
        };
    }

    private static String kind(Decision decision) {
        if (decision instanceof Decision.Retry) {
            return "RETRY";
        }
        if (decision instanceof Decision.Fail) {
            return "FAIL";
        }
        return decision instanceof Decision.Snooze ? "SNOOZE" : "RELEASE";
    }

    private static @Nullable Duration delay(Decision decision) {
        if (decision instanceof Decision.Retry retry) {
            return retry.delay();
        }
        if (decision instanceof Decision.Snooze snooze) {
            return snooze.delay();
        }
        return decision instanceof Decision.Release release ? release.delay() : null;
    }

    private static Attempt read(SqlRow row) throws SQLException {
        return new Attempt(
                row.integer(),
                row.number(),
                row.text(),
                row.instant(),
                row.instant(),
                SqlRow.constant(Attempt.Ending.class, row.text(), Attempt.Ending.FAILED),
                readFailure(row),
                readDecision(row));
    }

    private static @Nullable Failure readFailure(SqlRow row) throws SQLException {
        FailureClass given = row.constantOrNull(FailureClass.class, FailureClass.TRANSIENT);
        String type = row.textOrNull();
        String code = row.textOrNull();
        Integer status = row.integerOrNull();
        String message = row.textOrNull();
        String trace = row.textOrNull();
        String fingerprint = row.textOrNull();
        Duration retryAfter = row.durationOrNull();
        if (type == null || fingerprint == null) {
            return null;
        }
        Failure failure =
                Failure.reported(type, code, status, message, retryAfter).restored(fingerprint);
        failure = trace == null ? failure : failure.withTrace(trace);
        return given == null ? failure : failure.withGiven(given);
    }

    private static @Nullable Prediction readPrediction(SqlRow row) throws SQLException {
        Double successes = row.realOrNull();
        Double tries = row.realOrNull();
        Prediction.Basis basis = row.constantOrNull(Prediction.Basis.class, Prediction.Basis.TYPE);
        return successes == null || tries == null || basis == null ? null : new Prediction(successes, tries, basis);
    }

    private static @Nullable Decision readDecision(SqlRow row) throws SQLException {
        String kind = row.textOrNull();
        FailureClass failureClass = row.constantOrNull(FailureClass.class, FailureClass.TRANSIENT);
        String rule = row.textOrNull();
        FailReason reason = row.constantOrNull(FailReason.class, FailReason.PERMANENT);
        Duration delay = Objects.requireNonNullElse(row.durationOrNull(), Duration.ZERO);
        Duration raw = Objects.requireNonNullElse(row.durationOrNull(), Duration.ZERO);
        Boolean counts = row.flagOrNull();
        Prediction prediction = readPrediction(row);
        if (kind == null || rule == null) {
            return null;
        }
        FailureClass known = Objects.requireNonNullElse(failureClass, FailureClass.TRANSIENT);
        return switch (kind) {
            case "RETRY" -> new Decision.Retry(raw, delay, known, rule, prediction);
            case "FAIL" ->
                new Decision.Fail(
                        Objects.requireNonNullElse(reason, FailReason.PERMANENT),
                        known,
                        rule,
                        Boolean.TRUE.equals(counts),
                        prediction);
            case "SNOOZE" -> new Decision.Snooze(delay, rule);
            default -> new Decision.Release(delay, known, rule);
        };
    }
}
