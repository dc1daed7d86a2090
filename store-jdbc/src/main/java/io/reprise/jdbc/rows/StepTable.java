// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.failure.FailureClass;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobId;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.step.Telling;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes {@code reprise_step}. The primary key serves every statement. Locks are taken in the order of
 * settlements: lease, job, step.
 */
public final class StepTable {

    private static final String COLUMNS =
            "name, kind, state, token, at, due_at, suspensions, type, value, fail_reason, failure_class, error_type,"
                    + " error_message";

    private static final String FIND_ALL = """
            select job_id, {columns}
              from reprise_step {by primary}
             where job_id {in ?}
             order by job_id, at, name
            """.replace("{columns}", COLUMNS);

    // The length in bytes is known without reading a long value.
    private static final String SIZES = """
            select job_id, coalesce(sum(octet_length(value)), 0)
              from reprise_step {by primary}
             where job_id {in ?}
             group by job_id
            """;

    private static final String ONE = """
            select {columns}
              from reprise_step
             where job_id = ? and name = ?
            """.replace("{columns}", COLUMNS);

    // The lease stays until the end of the transaction: a take-over skips it. Leases are locked in the order of their
    // ids, as settlements lock them.
    private static final String LOCK_LEASES = """
            select id
              from reprise_lease {by primary}
             where id {in ?}
             order by id
            {share}
            """;

    private static final String THERE = """
            select id
              from reprise_lease {by primary}
             where id {in ?}
            """;

    // MySQL and MariaDB only: there a settlement locks the lease shared, and the job alone.
    private static final String LOCK_JOBS = """
            select id
              from reprise_job force index (primary)
             where id {in ?}
             order by id
            for update
            """;

    private static final String HELD = """
            from reprise_held h
              join reprise_job j on j.id = h.id
             where h.token = :token and h.id = :job and j.token < h.token and j.due_at is not null""";

    private static final String IS_HELD = """
            select 1
              {held}
            """.replace("{held}", HELD);

    // Fenced: it selects no row unless the lease holds the job. A row that is there stays.
    private static final String INSERT = """
            insert {ignore} into reprise_step (job_id, {columns})
            select :job, :name, :kind, :state, :token, {now}, {now} + :delay, :suspensions, :type, :value, :reason, :class,
                   :error, :message
              {held}
            {or_nothing}
            """.replace("{columns}", COLUMNS);

    private static final String UPDATE = """
            update reprise_step
               set kind = :kind, state = :state, token = :token, at = {now}, due_at = coalesce({now} + :delay, due_at),
                   suspensions = :suspensions, type = :type, value = :value, fail_reason = :reason, failure_class = :class,
                   error_type = :error, error_message = :message
             where job_id = :job and name = :name and {open}
               {fence}
            """;

    private static final String FENCED_INSERT = INSERT.replace("{held}", HELD);
    private static final String OPEN = "state in ('OPEN', 'STARTED')";
    private static final String FENCED_UPDATE =
            UPDATE.replace("{open}", OPEN).replace("{fence}", "and exists (select 1 {held})".replace("{held}", HELD));

    // Steps without an end, and those that a person ended: no run has written them.
    private static final String RESOLVABLE = "(state = 'STARTED' or kind = 'STEP' and token = 0)";

    // The transaction has locked the job, or settled it.
    private static final String PLAIN_INSERT = INSERT.replace("{held}", "from reprise_job j where j.id = :job");
    private static final String PLAIN_UPDATE = UPDATE.replace("{open}", OPEN).replace("{fence}", "");
    private static final String RESOLVE = UPDATE.replace("{open}", RESOLVABLE).replace("{fence}", "");

    private static final String GRANT = """
            update reprise_job
               set granted = :granted
             where id = :job and granted < :granted
            """;

    private static final String DUE_IF_TOLD = """
            update reprise_job
               set due_at = {now}
             where id = ? and exists (select 1 from reprise_step s where s.job_id = ? and s.name = ? and s.state = 'DONE')
            """;

    private static final String LOCK_LIVE = """
            select id
              from reprise_job {by primary}
             where id = ? and due_at is not null
            {for_update}
            """;

    private static final String ENDED = "select id from {finished} where id = ?";

    private static final String SIZE = """
            select count(*), coalesce(sum(octet_length(value)), 0)
              from reprise_step
             where job_id = ?
            """;

    private static final String WAKE = """
            update reprise_job
               set due_at = {now}
             where id = ? and wait_reason = 'EVENT' and due_at > {now}
            """;

    private static final String WAKE_FORGOTTEN = """
            update reprise_job
               set due_at = {now}
             where id = ? and wait_reason in ('EVENT', 'BATCH') and due_at > {now}
            """;

    private static final String FORGET = "{delete reprise_step by primary} where job_id {in ?}";

    private static final String FORGET_FAILED =
            "{delete reprise_step by primary} where job_id {in ?} and state = 'FAILED' and token > 0";

    private static final String FORGET_ONE = "delete from reprise_step where job_id = ? and name = ?";

    private static final String FORGET_RESOLVABLE =
            "delete from reprise_step where job_id = ? and name = ? and {open}".replace("{open}", RESOLVABLE);

    private static final String AWAITED = """
            select count(*)
              from reprise_step
             where job_id = ? and kind in ('EVENT', 'JOIN') and state = 'OPEN'
            """;

    private static final String FORGET_FROM = "delete from reprise_step where job_id = ? and at >= ?";

    private StepTable() {}

    /** Where a step is stored. */
    public record Place(JobId job, String name) {}

    /** Writes new steps of many runs in fewer round trips than {@link StepTable#checkpoint}. */
    public interface Together {

        /** Writes what it can. Returns the rows that it wrote; the others are left to {@link StepTable#checkpoint}. */
        List<Place> insert(Session session, List<Checkpoint> steps) throws SQLException;
    }

    /**
     * Returns the steps of jobs, in the order of the jobs. It returns those of the first job, and of further jobs as long as all
     * of them together have no more bytes than one job may have.
     */
    public static List<StepList> findFirst(Session session, List<JobId> jobs) throws SQLException {
        Instant now = SqlTime.instant(session.now());
        List<JobId> first = jobs;
        long[] ids = ids(jobs);
        if (ids.length > 1) {
            Map<Long, Long> sizes = sizes(session, ids);
            first = jobs.subList(0, together(jobs, sizes));
            ids = first.stream()
                    .mapToLong(JobId::value)
                    .filter(sizes::containsKey)
                    .sorted()
                    .distinct()
                    .toArray();
        }
        Map<Long, List<StoredStep>> found = find(session, ids);
        return first.stream()
                .map(job -> new StepList(now, found.getOrDefault(job.value(), List.of())))
                .toList();
    }

    private static long[] ids(List<JobId> jobs) {
        return jobs.stream().mapToLong(JobId::value).sorted().distinct().toArray();
    }

    /** Returns the bytes of those jobs that have steps. */
    private static Map<Long, Long> sizes(Session session, long[] ids) throws SQLException {
        record Size(long job, long length) {}
        Map<Long, Long> sizes = new HashMap<>();
        session.list(session.dialect().sql(SIZES), row -> new Size(row.number(), row.number()), (Object) ids)
                .forEach(size -> sizes.put(size.job, size.length));
        return sizes;
    }

    private static int together(List<JobId> jobs, Map<Long, Long> sizes) {
        long length = 0;
        Set<JobId> counted = new HashSet<>();
        for (int i = 0; i < jobs.size(); i++) {
            if (counted.add(jobs.get(i))) {
                length += sizes.getOrDefault(jobs.get(i).value(), 0L);
            }
            if (i > 0 && length > StoredStep.MAX_JOB_BYTES) {
                return i;
            }
        }
        return jobs.size();
    }

    private static Map<Long, List<StoredStep>> find(Session session, long[] ids) throws SQLException {
        Map<Long, List<StoredStep>> found = new HashMap<>();
        if (ids.length > 0) {
            session.list(
                    session.dialect().sql(FIND_ALL),
                    row -> found.computeIfAbsent(row.number(), id -> new ArrayList<>())
                            .add(read(row)),
                    (Object) ids);
        }
        return found;
    }

    /**
     * Returns the steps that can be written together: each is new, is the only one of its name, and grants nothing.
     */
    public static List<Checkpoint> together(List<Checkpoint> checkpoints) {
        Set<Place> places = new HashSet<>();
        return checkpoints.stream()
                .filter(each -> !each.step().replaces() && each.step().granted() == null)
                .filter(each -> places.add(place(each)))
                .toList();
    }

    public static Place place(Checkpoint checkpoint) {
        return new Place(checkpoint.job(), checkpoint.step().name());
    }

    /** Writes steps of runs that go on, in one transaction. */
    public static List<Checkpoint.Answer> checkpoint(Session session, List<Checkpoint> checkpoints)
            throws SQLException {
        lock(session, checkpoints);
        List<Checkpoint> fresh =
                checkpoints.stream().filter(each -> !each.step().replaces()).toList();
        List<Checkpoint> known =
                checkpoints.stream().filter(each -> each.step().replaces()).toList();
        int[] inserted = write(session, FENCED_INSERT, fresh);
        int[] updated = write(session, FENCED_UPDATE, known);
        List<Checkpoint.Answer> answers = new ArrayList<>();
        int nextFresh = 0;
        int nextKnown = 0;
        for (Checkpoint checkpoint : checkpoints) {
            int count = checkpoint.step().replaces() ? updated[nextKnown++] : inserted[nextFresh++];
            Checkpoint.Answer answer = count == 1 ? Checkpoint.Answer.WRITTEN : found(session, checkpoint);
            if (answer == Checkpoint.Answer.WRITTEN) {
                grant(session, checkpoint.job(), checkpoint.step());
            }
            answers.add(answer);
        }
        return answers;
    }

    private static int[] write(Session session, String sql, List<Checkpoint> checkpoints) throws SQLException {
        return checkpoints.isEmpty()
                ? new int[0]
                : session.updateEachCounted(
                        sql(session, sql),
                        checkpoints.stream()
                                .map(each -> params(each.job(), each.token(), each.step()))
                                .toList());
    }

    private static String sql(Session session, String template) {
        Dialect dialect = session.dialect();
        boolean mysql = dialect.name().equals("mysql");
        String share = mysql ? "lock in share mode" : dialect.name().equals("sqlite") ? "" : "for share";
        return dialect.sql(template.replace("{ignore} ", mysql ? "ignore " : "")
                .replace("{or_nothing}", mysql ? "" : "on conflict do nothing")
                .replace("{share}", share));
    }

    private static void lock(Session session, List<Checkpoint> checkpoints) throws SQLException {
        Dialect dialect = session.dialect();
        Collection<Long> tokens = new TreeSet<>();
        Collection<Long> jobs = new TreeSet<>();
        checkpoints.forEach(each -> {
            tokens.add(each.token());
            jobs.add(each.job().value());
        });
        // In a caller's REPEATABLE READ a lock on a missing lease would lock the gap, and no claim could insert there.
        Collection<Long> there = dialect.latest(session).isEmpty()
                ? tokens
                : dialect.committed(
                        session, other -> other.list(dialect.sql(THERE), SqlRow::number, (Object) array(tokens)));
        if (!there.isEmpty()) {
            session.list(sql(session, LOCK_LEASES), SqlRow::number, (Object) array(there));
        }
        if (dialect.name().equals("mysql")) {
            session.list(dialect.sql(LOCK_JOBS), SqlRow::number, (Object) array(jobs));
        }
    }

    private static long[] array(Collection<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).sorted().toArray();
    }

    /** Says why a row was not written now. */
    private static Checkpoint.Answer found(Session session, Checkpoint checkpoint) throws SQLException {
        Params fence = Params.of("token", checkpoint.token()).and("job", checkpoint.job());
        if (session.first(IS_HELD, SqlRow::number, fence).isEmpty()) {
            return Checkpoint.Answer.STALE;
        }
        Optional<StoredStep> there = session.first(
                ONE, StepTable::read, checkpoint.job(), checkpoint.step().name());
        return there.isPresent() && isSame(there.get(), checkpoint)
                ? Checkpoint.Answer.WRITTEN
                : Checkpoint.Answer.OTHER;
    }

    private static boolean isSame(StoredStep there, Checkpoint checkpoint) {
        StepWrite step = checkpoint.step();
        return there.token() == checkpoint.token()
                && there.kind() == step.kind()
                && there.state() == step.state()
                && Objects.equals(there.value(), step.value())
                && Objects.equals(there.failure(), step.failure());
    }

    private static void grant(Session session, JobId job, StepWrite step) throws SQLException {
        if (step.granted() != null) {
            session.update(GRANT, Params.of("granted", step.granted()).and("job", job));
        }
    }

    /** Writes the steps of accepted settlements in their transaction. */
    public static void settled(Session session, List<Settlement> settlements, Settled settled) throws SQLException {
        List<Settlement> accepted = settlements.stream()
                .filter(settlement -> settlement.step() != null)
                .filter(settlement -> !settled.stale().contains(settlement.job()))
                .filter(settlement -> !settled.cancelled().contains(settlement.job()))
                .toList();
        if (accepted.isEmpty()) {
            return;
        }
        plain(session, accepted, false);
        plain(session, accepted, true);
        for (Settlement settlement : accepted) {
            grant(session, settlement.job(), Objects.requireNonNull(settlement.step()));
            if (settlement.next() instanceof Settlement.Wait wait && wait.reason() == WaitReason.EVENT) {
                JobId job = settlement.job();
                String name = Objects.requireNonNull(settlement.step()).name();
                session.update(session.dialect().sql(DUE_IF_TOLD), job, job, name);
            }
        }
    }

    private static void plain(Session session, List<Settlement> accepted, boolean replaces) throws SQLException {
        List<Params> rows = new ArrayList<>();
        for (Settlement settlement : accepted) {
            StepWrite step = Objects.requireNonNull(settlement.step());
            if (step.replaces() == replaces) {
                rows.add(params(settlement.job(), settlement.token(), step));
            }
        }
        if (!rows.isEmpty()) {
            session.updateEachCounted(sql(session, replaces ? PLAIN_UPDATE : PLAIN_INSERT), rows);
        }
    }

    public static Telling tell(Session session, JobId job, String name, String type, String value) throws SQLException {
        Dialect dialect = session.dialect();
        if (!isLive(session, job)) {
            // A job that is put back leaves its table for a moment.
            boolean ended =
                    session.first(dialect.sql(ENDED), SqlRow::number, job).isPresent();
            if (ended || !isLive(session, job)) {
                return ended ? Telling.ENDED : Telling.MISSING;
            }
        }
        StoredStep there = session.first(ONE, StepTable::read, job, name).orElse(null);
        if (there != null && there.kind() != StoredStep.Kind.EVENT) {
            return Telling.NOT_AN_EVENT;
        }
        if (there != null && there.isEnded()) {
            return Telling.ALREADY_TOLD;
        }
        if (isFull(session, job, there == null, value)) {
            return Telling.FULL;
        }
        StepWrite event = StepWrite.told(name, type, value);
        if (there != null) {
            event = event.replacing().suspended(there.suspensions());
        }
        if (session.update(sql(session, there == null ? PLAIN_INSERT : PLAIN_UPDATE), params(job, 0, event)) != 1) {
            return Telling.ALREADY_TOLD;
        }
        if (there != null) {
            session.update(dialect.sql(WAKE), job);
        }
        return Telling.TOLD;
    }

    private static boolean isLive(Session session, JobId job) throws SQLException {
        return session.first(session.dialect().sql(LOCK_LIVE), SqlRow::number, job)
                .isPresent();
    }

    private static boolean isFull(Session session, JobId job, boolean more, String value) throws SQLException {
        record Size(int rows, long length) {}
        Size size = session.one(SIZE, row -> new Size(row.integer(), row.number()), job);
        long bytes = size.length + value.getBytes(StandardCharsets.UTF_8).length;
        return (more && size.rows >= StoredStep.MAX_STEPS) || bytes > StoredStep.MAX_JOB_BYTES;
    }

    /** Changes the steps of a job whose queue is locked. Returns false if there is no such step. */
    public static boolean edit(Session session, JobId job, StepEdit edit) throws SQLException {
        long awaited = awaited(session, job);
        if (!change(session, job, edit)) {
            return false;
        }
        if (awaited(session, job) < awaited) {
            session.update(session.dialect().sql(WAKE_FORGOTTEN), job);
        }
        return true;
    }

    /** Returns how many events and joins have no end. */
    private static long awaited(Session session, JobId job) throws SQLException {
        return session.one(AWAITED, SqlRow::number, job);
    }

    private static boolean change(Session session, JobId job, StepEdit edit) throws SQLException {
        if (edit instanceof StepEdit.Forget one) {
            boolean forgotten = session.update(FORGET_ONE, job, one.name()) == 1;
            Batches.forgetUnused(session, job);
            return forgotten;
        }
        if (edit instanceof StepEdit.Repeat repeat) {
            return session.update(FORGET_RESOLVABLE, job, repeat.name()) == 1;
        }
        if (edit instanceof StepEdit.ForgetFrom from) {
            Optional<StoredStep> first = session.first(ONE, StepTable::read, job, from.name());
            boolean forgotten = first.isPresent()
                    && session.update(FORGET_FROM, job, SqlTime.of(first.get().at())) > 0;
            Batches.forgetUnused(session, job);
            return forgotten;
        }
        if (edit instanceof StepEdit.Resolve resolve) {
            return session.update(sql(session, RESOLVE), params(job, 0, resolve.step())) == 1;
        }
        forget(session, job.value());
        return true;
    }

    public static void forget(Session session, long... jobs) throws SQLException {
        if (jobs.length > 0 && session.update(session.dialect().sql(FORGET), (Object) jobs) > 0) {
            Batches.forget(session, jobs);
        }
    }

    /** Deletes the steps that failed in a run, because a person wants another try. */
    public static void forgetFailed(Session session, long... jobs) throws SQLException {
        if (jobs.length > 0) {
            session.update(session.dialect().sql(FORGET_FAILED), (Object) jobs);
        }
    }

    private static Params params(JobId job, long token, StepWrite step) {
        StoredStep.StepFailure failure = step.failure();
        return Params.of("job", job)
                .and("token", token)
                .and("name", step.name())
                .and("kind", step.kind())
                .and("state", step.state())
                .and("delay", SqlTime.ofNullable(step.delay()))
                .and("suspensions", step.suspensions())
                .and("type", step.type())
                .and("value", step.value())
                .and("reason", failure == null ? null : failure.reason())
                .and("class", failure == null ? null : failure.failureClass())
                .and("error", failure == null ? null : failure.type())
                .and("message", failure == null ? null : failure.message());
    }

    private static StoredStep read(SqlRow row) throws SQLException {
        String name = row.text();
        StoredStep.Kind kind = SqlRow.constant(StoredStep.Kind.class, row.text(), StoredStep.Kind.STEP);
        StoredStep.State state = SqlRow.constant(StoredStep.State.class, row.text(), StoredStep.State.OPEN);
        return new StoredStep(
                name,
                kind,
                state,
                row.number(),
                row.instant(),
                row.instantOrNull(),
                row.integer(),
                row.textOrNull(),
                row.textOrNull(),
                readFailure(row));
    }

    private static StoredStep.@Nullable StepFailure readFailure(SqlRow row) throws SQLException {
        FailReason reason = row.constantOrNull(FailReason.class, FailReason.PERMANENT);
        FailureClass failureClass = row.constantOrNull(FailureClass.class, FailureClass.TRANSIENT);
        String type = row.textOrNull();
        String message = row.textOrNull();
        return reason == null
                ? null
                : new StoredStep.StepFailure(
                        reason,
                        Objects.requireNonNullElse(failureClass, FailureClass.TRANSIENT),
                        Objects.requireNonNullElse(type, "unknown"),
                        message);
    }
}
