// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.Job;
import io.reprise.JobCounts;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.JobStatus;
import io.reprise.JobTimes;
import io.reprise.Progress;
import io.reprise.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Converts documents to jobs, and specs to documents. */
final class JobDocs {

    /** Excludes the history, which can be long and is read separately. */
    static final Document WITHOUT_HISTORY = new Document(Fields.HISTORY, 0);

    /** Returns the idempotency key of a spec and its proof, which both lead to the job; empty if there is none. */
    static List<String> idempotencyKeys(JobSpec spec) {
        return Stream.of(spec.idempotencyKey(), spec.idempotencyProof())
                .flatMap(Stream::ofNullable)
                .toList();
    }

    /** Excludes history, payload and result; see {@link SpecDocs#withoutPayload}. */
    static final Document BRIEF =
            new Document(Fields.HISTORY, 0).append(SpecDocs.PAYLOAD, 0).append(Fields.RESULT, 0);

    static final Document ID_ONLY = new Document(Fields.ID, 1);

    static final Document CLAIM_ORDER =
            new Document(Fields.PRIORITY, -1).append(Fields.DUE, 1).append(Fields.ID, 1);

    private static final Comparator<Document> BY_CLAIM_ORDER = Comparator.<Document>comparingInt(
                    document -> -Fields.integer(document, Fields.PRIORITY))
            .thenComparingLong(document -> Fields.numberOr(document, Fields.DUE, 0))
            .thenComparingLong(JobDocs::idOf);

    private final SpecDocs specs = new SpecDocs();

    SpecDocs specs() {
        return specs;
    }

    static Document byId(JobId id) {
        return new Document(Fields.ID, id.value());
    }

    static Document byIds(List<Long> ids) {
        return new Document(Fields.ID, Fields.in(ids));
    }

    static long idOf(Document document) {
        return Fields.numberOr(document, Fields.ID, 0);
    }

    static JobState stateOf(Document document) {
        return Fields.state(Fields.text(document, Fields.STATUS));
    }

    /** Returns the document of a job that waits for its first run. */
    static Document fresh(long id, JobSpec spec, long now) {
        Document document = new Document(Fields.ID, id)
                .append(Fields.STATUS, Fields.PENDING)
                .append(Fields.ATTEMPTS, 0)
                .append(Fields.LOSSES, 0)
                .append(Fields.INTERRUPTIONS, 0)
                .append(Fields.SNOOZES, 0)
                .append(Fields.GRANTED, 0)
                .append(Fields.LANE, Fields.FRESH)
                .append(Fields.CREATED, now)
                .append(Fields.CREATED_AT, Micros.date(now))
                .append(Fields.UPDATED_AT, Micros.date(now));
        if (spec.idempotencyKey() != null) {
            document.append(Fields.IDEMPOTENCY_KEYS, idempotencyKeys(spec));
        }
        begin(document, spec, now);
        return document;
    }

    /** Gives a new or waiting job this spec, as if it were enqueued now. */
    static void begin(Document document, JobSpec spec, long now) {
        beginning(spec, now).forEach((field, value) -> {
            if (value == null) {
                document.remove(field);
            } else {
                document.put(field, value);
            }
        });
    }

    /** Returns the fields that {@link #begin} sets; null for those that it removes. */
    static Document beginning(JobSpec spec, long now) {
        long asked = spec.dueAt() == null ? Micros.plus(now, spec.delay()) : Micros.of(spec.dueAt());
        long due = Math.max(asked, now);
        Document values = SpecDocs.write(spec)
                .append(Fields.LIVE_QUEUE, spec.queue())
                .append(Fields.HELD_KEY, spec.key())
                .append(Fields.WAIT_REASON, (due > now ? WaitReason.DELAYED : WaitReason.NEW).name())
                .append(Fields.PARKED, false)
                .append(Fields.PARKED_BY, null)
                .append(Fields.FIRST_DUE, due)
                .append(Fields.DEADLINE, null);
        spec.policy()
                .deadline()
                .toOptional()
                .ifPresent(deadline -> values.append(Fields.DEADLINE, Micros.plus(due, deadline)));
        return due(values, due);
    }

    static Document due(Document values, long due) {
        return values.append(Fields.DUE, due).append(Fields.NEXT_RETRY_AT, Micros.date(due));
    }

    List<Job> read(Iterable<Document> documents) {
        List<Job> jobs = new ArrayList<>();
        documents.forEach(document -> jobs.add(read(document)));
        return jobs;
    }

    Job read(Document document) {
        return read(document, specs.read(document).spec());
    }

    private static Job read(Document document, JobSpec spec) {
        JobState state = stateOf(document);
        JobStatus status = new JobStatus(
                state,
                state == JobState.PENDING ? waitReason(document) : null,
                state == JobState.FAILED ? failReason(document) : null,
                error(document),
                progress(document),
                state == JobState.SUCCEEDED ? Fields.text(document, Fields.RESULT) : null,
                state == JobState.RUNNING ? holder(document) : null);
        JobCounts counts = new JobCounts(
                Fields.integer(document, Fields.ATTEMPTS),
                Fields.integer(document, Fields.LOSSES),
                Fields.integer(document, Fields.INTERRUPTIONS),
                Fields.integer(document, Fields.SNOOZES),
                Fields.integer(document, Fields.GRANTED));
        return new Job(new JobId(idOf(document)), spec, status, counts, times(document, state));
    }

    private static JobTimes times(Document document, JobState state) {
        long created = Fields.numberOr(document, Fields.CREATED, 0);
        long due = Fields.numberOr(document, Fields.DUE, created);
        return new JobTimes(
                Micros.instant(created),
                Micros.instant(Fields.numberOr(document, Fields.FIRST_DUE, created)),
                state == JobState.PENDING ? Micros.instant(due) : null,
                Micros.instantOrNull(Fields.number(document, Fields.DEADLINE)),
                state == JobState.PENDING ? null : Micros.instantOrNull(Fields.number(document, Fields.STARTED)),
                state.isTerminal() ? Micros.instant(Fields.numberOr(document, Fields.FINISHED, created)) : null,
                Micros.durationOrNull(Fields.number(document, Fields.LAST_DELAY)));
    }

    private static WaitReason waitReason(Document document) {
        return Objects.requireNonNullElse(
                Fields.constant(WaitReason.class, document.get(Fields.WAIT_REASON), WaitReason.RETRY), WaitReason.NEW);
    }

    private static FailReason failReason(Document document) {
        return Objects.requireNonNullElse(
                Fields.constant(FailReason.class, document.get(Fields.FAIL_REASON), FailReason.PERMANENT),
                FailReason.PERMANENT);
    }

    private static JobStatus.@Nullable LastError error(Document document) {
        if (!(document.get(Fields.ERROR) instanceof Document error)) {
            return null;
        }
        return new JobStatus.LastError(
                Objects.requireNonNullElse(Fields.text(error, "type"), "unknown"),
                Fields.text(error, "message"),
                Objects.requireNonNullElse(Fields.text(error, "fingerprint"), ""));
    }

    private static @Nullable Progress progress(Document document) {
        if (!(document.get(Fields.PROGRESS) instanceof Document progress)) {
            return null;
        }
        int percent = Math.max(0, Math.min(100, Fields.integer(progress, "percent")));
        return new Progress(percent, Fields.text(progress, "message"));
    }

    private static JobStatus.Holder holder(Document document) {
        return new JobStatus.Holder(
                Objects.requireNonNullElse(Fields.text(document, Fields.WORKER), "unknown"),
                Fields.numberOr(document, Fields.TOKEN, 0),
                Fields.flag(document, Fields.CANCEL_REQUESTED));
    }

    /** Reads the jobs of one token as a claim. */
    Claim claim(long token, List<Document> documents) {
        documents.sort(BY_CLAIM_ORDER);
        List<Job> jobs = new ArrayList<>();
        Set<JobId> admitted = new HashSet<>();
        Map<JobId, String> damaged = new HashMap<>();
        for (Document document : documents) {
            SpecDocs.Read spec = specs.read(document);
            Job job = read(document, spec.spec());
            jobs.add(job);
            if (waitReason(document) == WaitReason.BREAKER) {
                admitted.add(job.id());
            }
            if (spec.damage() != null) {
                damaged.put(job.id(), spec.damage());
            }
        }
        Document first = documents.get(0);
        return new Claim(
                token,
                Objects.requireNonNullElse(Fields.text(first, Fields.QUEUE), JobSpec.DEFAULT_QUEUE),
                Micros.instant(Fields.numberOr(first, Fields.CLAIMED, 0)),
                Fields.flag(first, Fields.ALONE),
                jobs,
                admitted,
                damaged);
    }
}
