// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.Attempt;
import io.reprise.JobState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Failure;
import io.reprise.retry.FailureClass;
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
final class AttemptDocs {

    private AttemptDocs() {}

    static Document write(Settlement settlement, Document job, long startedAt, long at) {
        Document attempt = new Document("number", Fields.integer(job, Fields.ATTEMPTS) + 1)
                .append(Fields.TOKEN, settlement.token())
                .append(Fields.WORKER, Fields.text(job, Fields.RUNNER))
                .append(Fields.STARTED, startedAt)
                .append("ended_us", at)
                .append("ending", ending(settlement).name());
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

    private static Attempt.Ending ending(Settlement settlement) {
        return switch (settlement.spent()) {
            case LOSS -> Attempt.Ending.LOST;
            case INTERRUPTION -> Attempt.Ending.INTERRUPTED;
            case SNOOZE -> Attempt.Ending.SNOOZED;
            case ATTEMPT, NOTHING ->
                settlement.next() instanceof Settlement.Cancel ? Attempt.Ending.CANCELLED : Attempt.Ending.FAILED;
        };
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
                .append("retry_after_us", Micros.ofNullable(failure.retryAfter()));
    }

    private static Document decision(Decision decision) {
        FailureClass failureClass = decision.failureClass();
        Document document = new Document("class", failureClass == null ? null : failureClass.name())
                .append("rule", decision.rule());
        if (decision instanceof Decision.Retry retry) {
            document.append("kind", "RETRY")
                    .append("delay_us", Micros.of(retry.delay()))
                    .append("raw_us", Micros.of(retry.raw()));
        } else if (decision instanceof Decision.Fail fail) {
            document.append("kind", "FAIL")
                    .append("reason", fail.reason().name())
                    .append("counts", fail.counts());
        } else if (decision instanceof Decision.Snooze snooze) {
            document.append("kind", "SNOOZE").append("delay_us", Micros.of(snooze.delay()));
        } else if (decision instanceof Decision.Release release) {
            document.append("kind", "RELEASE").append("delay_us", Micros.of(release.delay()));
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

    static List<Attempt> read(Document job, int kept) {
        List<Attempt> attempts = new ArrayList<>();
        for (Object entry : Objects.requireNonNullElse(job.getList(Fields.HISTORY, Object.class), List.of())) {
            if (entry instanceof Document attempt) {
                attempts.add(readOne(attempt));
            }
        }
        String runner = Fields.text(job, Fields.RUNNER);
        if (JobDocs.stateOf(job) == JobState.SUCCEEDED && runner != null) {
            attempts.add(new Attempt(
                    Fields.integer(job, Fields.ATTEMPTS),
                    Fields.numberOr(job, Fields.TOKEN, 0),
                    runner,
                    Micros.instant(Fields.numberOr(job, Fields.STARTED, 0)),
                    Micros.instant(Fields.numberOr(job, Fields.FINISHED, 0)),
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
                Fields.integer(attempt, "number"),
                Fields.numberOr(attempt, Fields.TOKEN, 0),
                Objects.requireNonNullElse(Fields.text(attempt, Fields.WORKER), "unknown"),
                Micros.instant(Fields.numberOr(attempt, Fields.STARTED, 0)),
                Micros.instant(Fields.numberOr(attempt, "ended_us", 0)),
                Objects.requireNonNullElse(
                        Fields.constant(Attempt.Ending.class, attempt.get("ending"), Attempt.Ending.FAILED),
                        Attempt.Ending.FAILED),
                attempt.get("failure") instanceof Document failure ? readFailure(failure) : null,
                attempt.get("decision") instanceof Document decision ? readDecision(decision) : null);
    }

    private static @Nullable Failure readFailure(Document from) {
        String type = Fields.text(from, "type");
        String fingerprint = Fields.text(from, "fingerprint");
        if (type == null || fingerprint == null) {
            return null;
        }
        Integer status = from.get("status") instanceof Number number ? number.intValue() : null;
        Duration retryAfter = Micros.durationOrNull(Fields.number(from, "retry_after_us"));
        Failure failure = Failure.reported(
                        type, Fields.text(from, "code"), status, Fields.text(from, "message"), retryAfter)
                .restored(fingerprint);
        String trace = Fields.text(from, "trace");
        failure = trace == null ? failure : failure.withTrace(trace);
        FailureClass given = Fields.constant(FailureClass.class, from.get("class"), FailureClass.TRANSIENT);
        return given == null ? failure : failure.withGiven(given);
    }

    private static @Nullable Decision readDecision(Document from) {
        String rule = Fields.text(from, "rule");
        String kind = Fields.text(from, "kind");
        if (rule == null || kind == null) {
            return null;
        }
        FailureClass known = Objects.requireNonNullElse(
                Fields.constant(FailureClass.class, from.get("class"), FailureClass.TRANSIENT), FailureClass.TRANSIENT);
        Duration delay = Micros.duration(Fields.numberOr(from, "delay_us", 0));
        Prediction prediction = from.get("prediction") instanceof Document read ? readPrediction(read) : null;
        return switch (kind) {
            case "RETRY" ->
                new Decision.Retry(Micros.duration(Fields.numberOr(from, "raw_us", 0)), delay, known, rule, prediction);
            case "FAIL" ->
                new Decision.Fail(
                        Objects.requireNonNullElse(
                                Fields.constant(FailReason.class, from.get("reason"), FailReason.PERMANENT),
                                FailReason.PERMANENT),
                        known,
                        rule,
                        Fields.flag(from, "counts"),
                        prediction);
            case "SNOOZE" -> new Decision.Snooze(delay, rule);
            default -> new Decision.Release(delay, known, rule);
        };
    }

    private static Prediction readPrediction(Document from) {
        return new Prediction(
                Fields.real(from, "successes"),
                Fields.real(from, "tries"),
                Objects.requireNonNullElse(
                        Fields.constant(Prediction.Basis.class, from.get("basis"), Prediction.Basis.TYPE),
                        Prediction.Basis.TYPE));
    }
}
