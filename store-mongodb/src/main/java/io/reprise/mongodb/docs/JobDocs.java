// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.job.Progress;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import io.reprise.store.Lane;
import java.time.Duration;
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
public final class JobDocs {

    /** Excludes history and steps, which can be long and are read separately. */
    public static final Document WITHOUT_HISTORY = new Document(FieldNames.HISTORY, 0).append(FieldNames.STEPS, 0);

    /** Returns the idempotency key of a spec and its proof, which both lead to the job; empty if there is none. */
    public static List<String> idempotencyKeys(JobSpec spec) {
        return Stream.of(spec.idempotencyKey(), spec.idempotencyProof())
                .flatMap(Stream::ofNullable)
                .toList();
    }

    /** Excludes history, steps, payload and result; see {@link SpecDocs#withoutPayload}. */
    public static final Document BRIEF = new Document(WITHOUT_HISTORY)
            .append(SpecDocs.PAYLOAD, 0)
            .append(SpecDocs.CHAIN, 0)
            .append(FieldNames.RESULT, 0);

    public static final Document ID_ONLY = new Document(FieldNames.ID, 1);

    public static final Document CLAIM_ORDER =
            new Document(FieldNames.PRIORITY, -1).append(FieldNames.DUE, 1).append(FieldNames.ID, 1);

    private static final Comparator<Document> BY_CLAIM_ORDER = Comparator.<Document>comparingInt(
                    document -> -FieldNames.integer(document, FieldNames.PRIORITY))
            .thenComparingLong(document -> FieldNames.numberOr(document, FieldNames.DUE, 0))
            .thenComparingLong(JobDocs::idOf);

    private final SpecDocs specs = new SpecDocs();

    public SpecDocs specs() {
        return specs;
    }

    public static Document byId(JobId id) {
        return new Document(FieldNames.ID, id.value());
    }

    public static Document byIds(List<Long> ids) {
        return new Document(FieldNames.ID, FieldNames.in(ids));
    }

    public static long idOf(Document document) {
        return FieldNames.numberOr(document, FieldNames.ID, 0);
    }

    public static JobState stateOf(Document document) {
        return FieldNames.state(FieldNames.text(document, FieldNames.STATUS));
    }

    /** Returns whether the job waits for the end or the success of a batch. */
    public static boolean awaitsBatch(Document document) {
        WaitReason reason =
                FieldNames.constant(WaitReason.class, document.get(FieldNames.WAIT_REASON), WaitReason.MANUAL);
        return Job.isHeldByBatch(reason, MongoTime.instantOrNull(FieldNames.number(document, FieldNames.DUE)));
    }

    /** Returns the document of a job that waits for its first run. */
    public static Document fresh(long id, JobSpec spec, long now) {
        Document document = new Document(FieldNames.ID, id)
                .append(FieldNames.STATUS, FieldNames.PENDING)
                .append(FieldNames.ATTEMPTS, 0)
                .append(FieldNames.LOSSES, 0)
                .append(FieldNames.INTERRUPTIONS, 0)
                .append(FieldNames.SNOOZES, 0)
                .append(FieldNames.GRANTED, 0)
                .append(FieldNames.LANE, FieldNames.lane(Lane.FRESH))
                .append(FieldNames.CREATED, now)
                .append(FieldNames.CREATED_AT, MongoTime.date(now))
                .append(FieldNames.UPDATED_AT, MongoTime.date(now));
        if (spec.idempotencyKey() != null) {
            document.append(FieldNames.IDEMPOTENCY_KEYS, idempotencyKeys(spec));
        }
        begin(document, spec, now);
        return document;
    }

    /** Gives a new or waiting job this spec, as if it were enqueued now. */
    public static void begin(Document document, JobSpec spec, long now) {
        beginning(spec, now, FieldNames.numberOr(document, FieldNames.CREATED, now))
                .forEach((field, value) -> {
                    if (value == null) {
                        document.remove(field);
                    } else {
                        document.put(field, value);
                    }
                });
    }

    /**
     * Returns the fields that {@link #begin} sets; null for those that it removes.
     *
     * @param created when the job was first stored; it bounds the due time of a job that replaces another
     */
    public static Document beginning(JobSpec spec, long now, long created) {
        long asked = spec.dueAt() == null ? MongoTime.plus(now, spec.delay()) : MongoTime.of(spec.dueAt());
        Duration latest = spec.atLatest();
        long bounded = latest == null ? asked : Math.min(asked, MongoTime.plus(created, latest));
        long due = Math.max(bounded, now);
        Document values = SpecDocs.write(spec)
                .append(FieldNames.LIVE_QUEUE, spec.queue())
                .append(FieldNames.HELD_KEY, spec.key())
                .append(FieldNames.PARKED, false)
                .append(FieldNames.PARKED_BY, null)
                .append(FieldNames.STEPS, null);
        return dueFrom(waiting(values, spec, due, now), spec, due);
    }

    /** Lets a job wait for the end of the one that holds its key. */
    public static void holdBack(Document values, JobSpec spec, long now) {
        values.append(FieldNames.HELD_KEY, spec.key() + JobSpec.FOLLOWING)
                .append(FieldNames.WAIT_REASON, WaitReason.FOLLOW.name())
                .append(FieldNames.TURN, "")
                .append(FieldNames.LATE, null);
        dueFrom(values, spec, MongoTime.plus(now, JobSpec.MAX_DELAY));
    }

    /** Returns the fields of a job that waited for the end of the one that held its key. */
    public static Document following(JobSpec spec, String key, long now) {
        long asked = spec.dueAt() == null ? MongoTime.plus(now, spec.delay()) : MongoTime.of(spec.dueAt());
        long due = Math.max(asked, now);
        Document values = new Document(FieldNames.HELD_KEY, key);
        return dueFrom(waiting(values, spec, due, now), spec, due);
    }

    private static Document waiting(Document values, JobSpec spec, long due, long now) {
        return values.append(FieldNames.WAIT_REASON, (due > now ? WaitReason.DELAYED : WaitReason.NEW).name())
                .append(FieldNames.TURN, spec.group() == null || due > now ? "" : spec.group())
                .append(FieldNames.LATE, spec.group() == null || due <= now ? null : due);
    }

    private static Document dueFrom(Document values, JobSpec spec, long due) {
        values.append(FieldNames.FIRST_DUE, due).append(FieldNames.DEADLINE, null);
        spec.policy()
                .deadline()
                .toOptional()
                .ifPresent(deadline -> values.append(FieldNames.DEADLINE, MongoTime.plus(due, deadline)));
        return due(values, due);
    }

    public static Document due(Document values, long due) {
        return values.append(FieldNames.DUE, due).append(FieldNames.NEXT_RETRY_AT, MongoTime.date(due));
    }

    public List<Job> read(Iterable<Document> documents) {
        List<Job> jobs = new ArrayList<>();
        documents.forEach(document -> jobs.add(read(document)));
        return jobs;
    }

    public Job read(Document document) {
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
                state == JobState.SUCCEEDED ? FieldNames.text(document, FieldNames.RESULT) : null,
                state == JobState.RUNNING ? holder(document) : null);
        JobCounts counts = new JobCounts(
                FieldNames.integer(document, FieldNames.ATTEMPTS),
                FieldNames.integer(document, FieldNames.LOSSES),
                FieldNames.integer(document, FieldNames.INTERRUPTIONS),
                FieldNames.integer(document, FieldNames.SNOOZES),
                FieldNames.integer(document, FieldNames.GRANTED));
        return new Job(new JobId(idOf(document)), spec, status, counts, times(document, state));
    }

    private static JobTimes times(Document document, JobState state) {
        long created = FieldNames.numberOr(document, FieldNames.CREATED, 0);
        long due = FieldNames.numberOr(document, FieldNames.DUE, created);
        return new JobTimes(
                MongoTime.instant(created),
                MongoTime.instant(FieldNames.numberOr(document, FieldNames.FIRST_DUE, created)),
                state == JobState.PENDING ? MongoTime.instant(due) : null,
                MongoTime.instantOrNull(FieldNames.number(document, FieldNames.DEADLINE)),
                state == JobState.PENDING
                        ? null
                        : MongoTime.instantOrNull(FieldNames.number(document, FieldNames.STARTED)),
                state.isTerminal()
                        ? MongoTime.instant(FieldNames.numberOr(document, FieldNames.FINISHED, created))
                        : null,
                MongoTime.durationOrNull(FieldNames.number(document, FieldNames.LAST_DELAY)));
    }

    private static WaitReason waitReason(Document document) {
        return Objects.requireNonNullElse(
                FieldNames.constant(WaitReason.class, document.get(FieldNames.WAIT_REASON), WaitReason.RETRY),
                WaitReason.NEW);
    }

    private static FailReason failReason(Document document) {
        return Objects.requireNonNullElse(
                FieldNames.constant(FailReason.class, document.get(FieldNames.FAIL_REASON), FailReason.PERMANENT),
                FailReason.PERMANENT);
    }

    private static JobStatus.@Nullable LastError error(Document document) {
        if (!(document.get(FieldNames.ERROR) instanceof Document error)) {
            return null;
        }
        return new JobStatus.LastError(
                Objects.requireNonNullElse(FieldNames.text(error, "type"), "unknown"),
                FieldNames.text(error, "message"),
                Objects.requireNonNullElse(FieldNames.text(error, "fingerprint"), ""));
    }

    private static @Nullable Progress progress(Document document) {
        if (!(document.get(FieldNames.PROGRESS) instanceof Document progress)) {
            return null;
        }
        int percent = Math.max(0, Math.min(100, FieldNames.integer(progress, "percent")));
        return new Progress(percent, FieldNames.text(progress, "message"));
    }

    private static JobStatus.Holder holder(Document document) {
        return new JobStatus.Holder(
                Objects.requireNonNullElse(FieldNames.text(document, FieldNames.WORKER), "unknown"),
                FieldNames.numberOr(document, FieldNames.TOKEN, 0),
                FieldNames.flag(document, FieldNames.CANCEL_REQUESTED));
    }

    /** Reads the jobs of one token as a claim. */
    public Claim claim(long token, List<Document> documents) {
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
                Objects.requireNonNullElse(FieldNames.text(first, FieldNames.QUEUE), JobSpec.DEFAULT_QUEUE),
                MongoTime.instant(FieldNames.numberOr(first, FieldNames.CLAIMED, 0)),
                FieldNames.flag(first, FieldNames.ALONE),
                jobs,
                admitted,
                damaged);
    }
}
