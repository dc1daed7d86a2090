// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.rows.AuditTable;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobChange.Answer;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Changes waiting jobs in place, under the locks of their queues. */
public final class JobChanges {

    // The lock of the queue keeps claims, requeues and cancellations away. The end of a batch, an event, an unparking,
    // and the expiry of a deadline take no such lock.
    private static final String LOCK = """
            select id
              from reprise_job {by primary}
             where id {in ?} and due_at is not null
             order by id
            {for_update}
            """;

    // Runs under the locks of the job and of its queue. A payload or policy that stays is not written again.
    private static final String CHANGE = """
            update reprise_job
               set queue = :queue,
                   priority = :priority,
                   due_at = :due_at,
                   deadline = :deadline,
                   wait_reason = coalesce(cast(:wait_reason as {text}), wait_reason),
                   lane = case when :unparks = 1 then lane % 3 else lane end,
                   parked_by = case when :unparks = 1 then null else parked_by end,
                   policy = coalesce(cast(:policy as {bigint}), policy),
                   payload = coalesce(cast(:payload as {text}), payload)
             where id = :id and due_at is not null
            """;

    private final JobRows jobs;
    private final PolicyTable policies;

    public JobChanges(JobRows jobs, PolicyTable policies) {
        this.jobs = jobs;
        this.policies = policies;
    }

    /** Changes the jobs whose queue it could lock. Jobs that began to wait or moved to another queue meanwhile have no answer. */
    public Map<JobId, Answer> change(Session session, Map<JobId, JobChange> changes, AuditNote note)
            throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        List<Long> ids = changes.keySet().stream().map(JobId::value).sorted().toList();
        Map<JobId, String> locked = lock(session, find(session, ids));
        Instant now = SqlTime.instant(session.one(dialect.sql("select {clock}"), SqlRow::number));
        policies.store(
                session,
                changes.values().stream()
                        .map(JobChange::policy)
                        .filter(Objects::nonNull)
                        .collect(Collectors.toSet()));
        Map<JobId, Answer> answers = new HashMap<>();
        List<Params> rows = new ArrayList<>();
        Set<Long> found = new HashSet<>();
        for (Job job : find(session, ids)) {
            found.add(job.id().value());
            if (job.state() != JobState.PENDING || job.queue().equals(locked.get(job.id()))) {
                JobChange change = Objects.requireNonNull(changes.get(job.id()));
                JobChange.Changed changed = change.applyTo(job, now);
                answers.put(job.id(), changed.answer());
                if (changed.answer() == Answer.DONE) {
                    rows.add(row(job.id(), change, changed));
                }
            }
        }
        ids.stream().filter(id -> !found.contains(id)).forEach(id -> answers.put(new JobId(id), Answer.MISSING));
        write(session, rows, changes, answers, note);
        return answers;
    }

    private static void write(
            Session session,
            List<Params> rows,
            Map<JobId, JobChange> changes,
            Map<JobId, Answer> answers,
            AuditNote note)
            throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        session.updateEachNamed(session.dialect().sql(CHANGE), rows);
        Set<JobId> done = answers.entrySet().stream()
                .filter(answer -> answer.getValue() == Answer.DONE)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        AuditTable.writeAll(
                session,
                "change",
                done,
                note,
                id -> Objects.requireNonNull(changes.get(id)).detail());
    }

    /** Returns the jobs in the order of their ids, so that two changes of the same jobs do not deadlock. */
    private List<Job> find(Session session, Collection<Long> ids) throws SQLException {
        Map<JobId, Job> all = new LinkedHashMap<>();
        for (long[] piece :
                session.dialect().pieces(ids.stream().mapToLong(Long::longValue).toArray())) {
            jobs.findBrief(session, Arrays.stream(piece).boxed().toList()).forEach(job -> all.put(job.id(), job));
        }
        return all.values().stream()
                .sorted(Comparator.comparingLong(job -> job.id().value()))
                .toList();
    }

    /** Locks the waiting ones of these jobs, after their queues. Returns them with their queues. */
    private static Map<JobId, String> lock(Session session, List<Job> all) throws SQLException {
        List<Job> waiting =
                all.stream().filter(job -> job.state() == JobState.PENDING).toList();
        List<String> queues = waiting.stream()
                .map(Job::queue)
                .distinct()
                .sorted(Comparator.comparing(Needs::base))
                .toList();
        for (String queue : queues) {
            session.dialect().lockQueue(session, queue);
        }
        long[] ids = waiting.stream().mapToLong(job -> job.id().value()).toArray();
        for (long[] piece : session.dialect().pieces(ids)) {
            session.list(session.dialect().sql(LOCK), SqlRow::number, (Object) piece);
        }
        return waiting.stream().collect(Collectors.toMap(Job::id, Job::queue));
    }

    private Params row(JobId id, JobChange change, JobChange.Changed changed) {
        return Params.of("id", id)
                .and("queue", changed.spec().queue())
                .and("priority", changed.spec().priority())
                .and("due_at", SqlTime.ofNullable(changed.dueAt()))
                .and("deadline", SqlTime.ofNullable(changed.deadline()))
                .and("wait_reason", changed.waitReason())
                .and("unparks", changed.unparks() ? 1 : 0)
                .and("policy", change.policy() == null ? null : policies.id(change.policy()))
                .and("payload", change.payload());
    }
}
