// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.insight.LogLine;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.job.Progress;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.step.StoredStep;
import io.reprise.store.Lane;
import io.reprise.store.LogPart;
import io.reprise.store.Turns;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The row of one job. Change it only through {@link MemoryTables#update}, which keeps the indexes correct. */
final class StoredJob {

    private static final int MAX_HISTORY = 25;

    final JobId id;
    final Instant createdAt;
    final List<String> idempotencyKeys = new ArrayList<>(1);
    private final Deque<Attempt> history = new ArrayDeque<>(1);
    /** The log lines by token and part. */
    private final NavigableMap<Long, NavigableMap<Integer, LogPart>> logs = new TreeMap<>();
    /** The steps in the order in which they were written. */
    final Map<String, StoredStep> steps = new LinkedHashMap<>(0);

    JobSpec spec;
    JobState state = JobState.PENDING;
    WaitReason waitReason = WaitReason.NEW;

    @Nullable
    FailReason failReason;

    JobStatus.@Nullable LastError lastError;

    @Nullable
    Progress progress;

    @Nullable
    String result;

    @Nullable
    MemoryLease lease;

    boolean cancelRequested;
    Lane lane = Lane.FRESH;

    /** The number of suspects that may run on one worker with this job. */
    int together = 1;

    /** The name that the job is parked by; null if it is not parked. */
    @Nullable
    String parkedBy;

    /** The due time for which the job was given a turn of its own. It counts no more when the due time changes. */
    @Nullable
    Instant turnFor;

    JobCounts counts = JobCounts.NONE;
    Instant firstDueAt;
    /** The due time. It stays while the job runs, so that a claim can be undone. */
    Instant dueAt;

    @Nullable
    Instant deadline;

    @Nullable
    Instant startedAt;

    @Nullable
    Instant finishedAt;

    @Nullable
    Duration lastDelay;

    StoredJob(JobId id, JobSpec spec, Instant now, Instant dueAt) {
        this.id = id;
        this.spec = spec;
        this.createdAt = now;
        this.firstDueAt = dueAt;
        this.dueAt = dueAt;
    }

    boolean isHeldUnder(long token) {
        return lease != null && lease.token == token;
    }

    /** Whether the job waits for the end of the one that holds its key. */
    boolean follows() {
        return state == JobState.PENDING && waitReason == WaitReason.FOLLOW;
    }

    boolean isOverdue(Instant now) {
        return deadline != null && !deadline.isAfter(now);
    }

    /** Returns the group if the job was due when it was stored or has been given its turn, otherwise nothing. */
    String turn() {
        String group = spec.group();
        boolean has = waitReason == WaitReason.NEW || dueAt.equals(turnFor);
        return group != null && has && lane != Lane.SUSPECT ? group : Turns.NONE;
    }

    boolean awaitsTurn() {
        return spec.group() != null && turn().isEmpty() && lane != Lane.SUSPECT;
    }

    void grant(int attempts) {
        JobCounts c = counts;
        counts = new JobCounts(
                c.attempts(), c.losses(), c.interruptions(), c.snoozes(), Math.addExact(c.granted(), attempts));
    }

    /** Takes the job out of its lease. It waits as before the claim. */
    void putBack() {
        leave();
        state = JobState.PENDING;
        startedAt = null;
    }

    void waitUntil(Instant due, WaitReason reason) {
        putBack();
        parkedBy = null;
        dueAt = due;
        waitReason = reason;
        failReason = null;
        finishedAt = null;
    }

    void become(JobChange.Changed changed) {
        spec = changed.spec();
        dueAt = changed.dueAt() == null ? dueAt : changed.dueAt();
        deadline = changed.deadline();
        waitReason = changed.waitReason() == null ? waitReason : changed.waitReason();
        parkedBy = changed.unparks() ? null : parkedBy;
    }

    void finish(JobState terminal, Instant at) {
        leave();
        parkedBy = null;
        state = terminal;
        finishedAt = at;
    }

    void fail(FailReason reason, Instant at) {
        failReason = reason;
        finish(JobState.FAILED, at);
    }

    private void leave() {
        if (lease != null) {
            lease.jobs.remove(this);
            lease = null;
        }
        cancelRequested = false;
    }

    void remember(Attempt attempt) {
        history.addLast(attempt);
        if (history.size() > MAX_HISTORY) {
            history.removeFirst();
        }
    }

    void writeLog(LogPart part) {
        logs.computeIfAbsent(part.token(), token -> new TreeMap<>()).put(part.part(), part);
        while (logs.size() > MAX_HISTORY) {
            logs.pollFirstEntry();
        }
    }

    List<LogLine> log(long from) {
        return logs.tailMap(from, true).values().stream()
                .flatMap(parts -> parts.values().stream())
                .flatMap(part -> part.lines().stream())
                .toList();
    }

    /** Returns the bytes of payload, chain, result, steps and log lines. */
    long bytes() {
        long stored = length(spec.payload()) + length(spec.chain()) + length(result);
        for (StoredStep step : steps.values()) {
            stored += length(step.value());
        }
        for (NavigableMap<Integer, LogPart> parts : logs.values()) {
            for (LogPart part : parts.values()) {
                stored += length(part.toText());
            }
        }
        return stored;
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.getBytes(StandardCharsets.UTF_8).length;
    }

    List<Attempt> history() {
        return List.copyOf(history);
    }

    Job read() {
        boolean pending = state == JobState.PENDING;
        JobStatus.Holder holder =
                lease == null ? null : new JobStatus.Holder(lease.worker, lease.token, cancelRequested);
        JobStatus status =
                new JobStatus(state, pending ? waitReason : null, failReason, lastError, progress, result, holder);
        JobTimes times =
                new JobTimes(createdAt, firstDueAt, pending ? dueAt : null, deadline, startedAt, finishedAt, lastDelay);
        return new Job(id, spec, status, counts, times);
    }
}
