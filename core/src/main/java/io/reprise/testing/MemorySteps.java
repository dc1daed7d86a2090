// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.step.Telling;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads and writes the steps of jobs. */
final class MemorySteps {

    private final MemoryTables tables;
    private final MemoryAudit audit;

    MemorySteps(MemoryTables tables, MemoryAudit audit) {
        this.tables = tables;
        this.audit = audit;
    }

    StepList read(JobId id, Instant now) {
        StoredJob job = tables.jobs.get(id);
        return new StepList(now, job == null ? List.of() : List.copyOf(job.steps.values()));
    }

    /** Says how the store would answer, and writes nothing. */
    Checkpoint.Answer look(Checkpoint checkpoint) {
        StoredJob job = tables.jobs.get(checkpoint.job());
        if (job == null || !job.isHeldUnder(checkpoint.token())) {
            return Checkpoint.Answer.STALE;
        }
        StepWrite step = checkpoint.step();
        StoredStep there = job.steps.get(step.name());
        if (there == null ? !step.replaces() : step.replaces() && !there.isEnded()) {
            return Checkpoint.Answer.WRITTEN;
        }
        return there != null && isSame(there, checkpoint) ? Checkpoint.Answer.WRITTEN : Checkpoint.Answer.OTHER;
    }

    private static boolean isSame(StoredStep there, Checkpoint checkpoint) {
        StepWrite step = checkpoint.step();
        return there.token() == checkpoint.token()
                && there.kind() == step.kind()
                && there.state() == step.state()
                && Objects.equals(there.value(), step.value())
                && Objects.equals(there.failure(), step.failure());
    }

    Checkpoint.Answer write(Checkpoint checkpoint, Instant now) {
        Checkpoint.Answer answer = look(checkpoint);
        StoredJob job = tables.jobs.get(checkpoint.job());
        if (answer == Checkpoint.Answer.WRITTEN && job != null) {
            put(job, checkpoint.step(), checkpoint.token(), now);
        }
        return answer;
    }

    private static void put(StoredJob job, StepWrite step, long token, Instant now) {
        StoredStep before = job.steps.remove(step.name());
        Instant dueAt = step.delay() == null
                ? before == null ? null : before.dueAt()
                : now.plus(step.delay()).truncatedTo(ChronoUnit.MICROS);
        job.steps.put(
                step.name(),
                new StoredStep(
                        step.name(),
                        step.kind(),
                        step.state(),
                        token,
                        now,
                        dueAt,
                        step.suspensions(),
                        step.type(),
                        step.value(),
                        step.failure()));
        grant(job, step);
    }

    private static void grant(StoredJob job, StepWrite step) {
        if (step.granted() != null) {
            job.grant(Math.max(0, step.granted() - job.counts.granted()));
        }
    }

    /** Writes the step of an accepted settlement. The caller has updated the job. */
    void settled(StoredJob job, StepWrite step, long token, Instant now) {
        StoredStep there = job.steps.get(step.name());
        if (there == null || !there.isEnded()) {
            put(job, step, token, now);
            return;
        }
        grant(job, step);
        if (job.waitReason == WaitReason.EVENT) {
            tables.update(job, () -> job.dueAt = now);
        }
    }

    Telling tell(JobId id, String name, String type, String value, Instant now) {
        StoredJob job = tables.jobs.get(id);
        if (job == null || job.state.isTerminal()) {
            return job == null ? Telling.MISSING : Telling.ENDED;
        }
        StoredStep there = job.steps.get(name);
        if (there != null && there.kind() != StoredStep.Kind.EVENT) {
            return Telling.NOT_AN_EVENT;
        }
        if (there != null && there.isEnded()) {
            return Telling.ALREADY_TOLD;
        }
        if (isFull(job, there, value)) {
            return Telling.FULL;
        }
        Instant dueAt = there == null ? null : there.dueAt();
        job.steps.remove(name);
        job.steps.put(
                name,
                new StoredStep(
                        name, StoredStep.Kind.EVENT, StoredStep.State.DONE, 0, now, dueAt, 0, type, value, null));
        boolean waits = job.state == JobState.PENDING && job.waitReason == WaitReason.EVENT;
        if (there != null && waits && job.dueAt.isAfter(now)) {
            tables.update(job, () -> job.dueAt = now);
        }
        return Telling.TOLD;
    }

    private static boolean isFull(StoredJob job, @Nullable StoredStep there, String value) {
        long bytes = value.getBytes(StandardCharsets.UTF_8).length;
        for (StoredStep step : job.steps.values()) {
            bytes += step.value() == null ? 0 : step.value().getBytes(StandardCharsets.UTF_8).length;
        }
        return (there == null && job.steps.size() >= StoredStep.MAX_STEPS) || bytes > StoredStep.MAX_JOB_BYTES;
    }

    StepEdit.Result edit(JobId id, StepEdit edit, AuditNote note, Instant now) {
        StoredJob job = tables.jobs.get(id);
        if (job == null) {
            return StepEdit.Result.MISSING;
        }
        if (job.state == JobState.RUNNING) {
            return StepEdit.Result.RUNNING;
        }
        long awaited = awaited(job);
        if (!change(job, edit, now)) {
            return StepEdit.Result.NO_STEP;
        }
        boolean waits = job.state == JobState.PENDING
                && (job.waitReason == WaitReason.EVENT || job.waitReason == WaitReason.BATCH);
        if (awaited(job) < awaited && waits && job.dueAt.isAfter(now)) {
            tables.update(job, () -> job.dueAt = now);
        }
        tables.batches.forgetUnused(job);
        audit.job(now, edit.action(), id, note, edit.detail());
        return StepEdit.Result.DONE;
    }

    private static long awaited(StoredJob job) {
        return job.steps.values().stream().filter(StoredStep::isAwaited).count();
    }

    /** Returns false, and changes nothing, if there is no such step. */
    static boolean change(StoredJob job, StepEdit edit, Instant now) {
        if (edit instanceof StepEdit.Forget one) {
            return job.steps.remove(one.name()) != null;
        }
        if (edit instanceof StepEdit.ForgetFrom from) {
            StoredStep first = job.steps.get(from.name());
            return first != null
                    && job.steps.values().removeIf(step -> !step.at().isBefore(first.at()));
        }
        if (edit instanceof StepEdit.Resolve resolve) {
            StoredStep there = job.steps.get(resolve.step().name());
            if (there == null || !there.isResolvable()) {
                return false;
            }
            put(job, resolve.step(), 0, now);
            return true;
        }
        if (edit instanceof StepEdit.Repeat repeat) {
            StoredStep there = job.steps.get(repeat.name());
            return there != null && there.isResolvable() && job.steps.remove(repeat.name()) != null;
        }
        job.steps.clear();
        return true;
    }
}
