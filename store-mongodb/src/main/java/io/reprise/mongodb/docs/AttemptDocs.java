// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.job.Attempt;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Converts attempts to the list {@code history} in a job's document and back. A success is not in the list: it is read
 * from the fields of the ended job.
 */
public final class AttemptDocs {

    private AttemptDocs() {}

    public static Document write(Settlement settlement, Document job, long startedAt, long at) {
        Document attempt = new Document("number", FieldNames.integer(job, FieldNames.ATTEMPTS) + 1)
                .append(FieldNames.TOKEN, settlement.token())
                .append(FieldNames.WORKER, FieldNames.text(job, FieldNames.RUNNER))
                .append(FieldNames.STARTED, startedAt)
                .append("ended_us", at)
                .append("ending", settlement.ending().name());
        Failure failure = settlement.failure();
        if (failure != null) {
            attempt.append("failure", failure(failure));
        }
        Decision decision = settlement.decision();
        if (decision != null) {
            attempt.append("decision", decision(decision));
        }
        return attempt;
    }

    private static Document failure(Failure failure) {
        FailureClass given = failure.given();
        return new Document("class", given == null ? null : given.name())
                .append("type", failure.type())
                .append("code", failure.code())
                .append("status", failure.httpStatus())
                .append("message", failure.message())
                .append("trace", failure.trace())
                .append("fingerprint", failure.fingerprint())
                .append("retry_after_us", MongoTime.ofNullable(failure.retryAfter()));
    }

    private static Document decision(Decision decision) {
        FailureClass failureClass = decision.failureClass();
        Document document = new Document("class", failureClass == null ? null : failureClass.name())
                .append("rule", decision.rule());
        if (decision instanceof Decision.Retry retry) {
            document.append("kind", "RETRY")
                    .append("delay_us", MongoTime.of(retry.delay()))
                    .append("raw_us", MongoTime.of(retry.raw()));
        } else if (decision instanceof Decision.Fail fail) {
            document.append("kind", "FAIL")
                    .append("reason", fail.reason().name())
                    .append("counts", fail.counts());
        } else if (decision instanceof Decision.Snooze snooze) {
            document.append("kind", "SNOOZE").append("delay_us", MongoTime.of(snooze.delay()));
        } else if (decision instanceof Decision.Release release) {
            document.append("kind", "RELEASE").append("delay_us", MongoTime.of(release.delay()));
        }
        Prediction prediction = decision.prediction();
        if (prediction != null) {
            document.append(
                    "prediction",
                    new Document("successes", prediction.successes())
                            .append("tries", prediction.tries())
                            .append("basis", prediction.basis().name()));
        }
        return document;
    }

    public static List<Attempt> read(Document job, int kept) {
        List<Attempt> attempts = new ArrayList<>();
        for (Object entry : Objects.requireNonNullElse(job.getList(FieldNames.HISTORY, Object.class), List.of())) {
            if (entry instanceof Document attempt) {
                attempts.add(readOne(attempt));
            }
        }
        String runner = FieldNames.text(job, FieldNames.RUNNER);
        if (JobDocs.stateOf(job) == JobState.SUCCEEDED && runner != null) {
            attempts.add(new Attempt(
                    FieldNames.integer(job, FieldNames.ATTEMPTS),
                    FieldNames.numberOr(job, FieldNames.TOKEN, 0),
                    runner,
                    MongoTime.instant(FieldNames.numberOr(job, FieldNames.STARTED, 0)),
                    MongoTime.instant(FieldNames.numberOr(job, FieldNames.FINISHED, 0)),
                    Attempt.Ending.SUCCEEDED,
                    null,
                    null));
        }
        return attempts.size() <= kept
                ? attempts
                : List.copyOf(attempts.subList(attempts.size() - kept, attempts.size()));
    }

    private static Attempt readOne(Document attempt) {
        return new Attempt(
                FieldNames.integer(attempt, "number"),
                FieldNames.numberOr(attempt, FieldNames.TOKEN, 0),
                Objects.requireNonNullElse(FieldNames.text(attempt, FieldNames.WORKER), "unknown"),
                MongoTime.instant(FieldNames.numberOr(attempt, FieldNames.STARTED, 0)),
                MongoTime.instant(FieldNames.numberOr(attempt, "ended_us", 0)),
                Objects.requireNonNullElse(
                        FieldNames.constant(Attempt.Ending.class, attempt.get("ending"), Attempt.Ending.FAILED),
                        Attempt.Ending.FAILED),
                attempt.get("failure") instanceof Document failure ? readFailure(failure) : null,
                attempt.get("decision") instanceof Document decision ? readDecision(decision) : null);
    }

    private static @Nullable Failure readFailure(Document from) {
        String type = FieldNames.text(from, "type");
        String fingerprint = FieldNames.text(from, "fingerprint");
        if (type == null || fingerprint == null) {
            return null;
        }
        Integer status = from.get("status") instanceof Number number ? number.intValue() : null;
        Duration retryAfter = MongoTime.durationOrNull(FieldNames.number(from, "retry_after_us"));
        Failure failure = Failure.reported(
                        type, FieldNames.text(from, "code"), status, FieldNames.text(from, "message"), retryAfter)
                .restored(fingerprint);
        String trace = FieldNames.text(from, "trace");
        failure = trace == null ? failure : failure.withTrace(trace);
        FailureClass given = FieldNames.constant(FailureClass.class, from.get("class"), FailureClass.TRANSIENT);
        return given == null ? failure : failure.withGiven(given);
    }

    private static @Nullable Decision readDecision(Document from) {
        String rule = FieldNames.text(from, "rule");
        String kind = FieldNames.text(from, "kind");
        if (rule == null || kind == null) {
            return null;
        }
        FailureClass known = Objects.requireNonNullElse(
                FieldNames.constant(FailureClass.class, from.get("class"), FailureClass.TRANSIENT),
                FailureClass.TRANSIENT);
        Duration delay = MongoTime.duration(FieldNames.numberOr(from, "delay_us", 0));
        Prediction prediction = from.get("prediction") instanceof Document read ? readPrediction(read) : null;
        return switch (kind) {
            case "RETRY" ->
                new Decision.Retry(
                        MongoTime.duration(FieldNames.numberOr(from, "raw_us", 0)), delay, known, rule, prediction);
            case "FAIL" ->
                new Decision.Fail(
                        Objects.requireNonNullElse(
                                FieldNames.constant(FailReason.class, from.get("reason"), FailReason.PERMANENT),
                                FailReason.PERMANENT),
                        known,
                        rule,
                        FieldNames.flag(from, "counts"),
                        prediction);
            case "SNOOZE" -> new Decision.Snooze(delay, rule);
            default -> new Decision.Release(delay, known, rule);
        };
    }

    private static Prediction readPrediction(Document from) {
        return new Prediction(
                FieldNames.real(from, "successes"),
                FieldNames.real(from, "tries"),
                Objects.requireNonNullElse(
                        FieldNames.constant(Prediction.Basis.class, from.get("basis"), Prediction.Basis.TYPE),
                        Prediction.Basis.TYPE));
    }
}
