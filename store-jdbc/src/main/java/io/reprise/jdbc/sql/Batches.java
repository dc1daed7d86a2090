// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.batch.BatchMember;
import io.reprise.batch.BatchState;
import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.RefusedException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the members of batches in the transaction in which they end, and makes the jobs due that wait for a batch. A
 * transaction locks jobs first, then rows of batches in the order of their names, then jobs that wait for batches. A
 * transaction without members sends no statement.
 */
public final class Batches {

    /** Begins the text in the column chain of a member; a line break ends the membership. JSON never begins so. */
    private static final String MEMBER = "@";

    private static final String COLUMNS =
            "name, total, succeeded, dead, cancelled, created_at, closed_at, ended_at, success_at, on_success, on_end";

    private static final String CREATE = """
            insert into reprise_batch (name, created_at)
            values (?, {now})
            """;

    private static final String FOLLOWERS = """
            update reprise_batch
               set on_success = ?, on_end = ?
             where name = ?
            """;

    private static final String HOLD_BACK = """
            update reprise_job
               set wait_reason = 'BATCH'
             where id = ?
            """;

    private static final String CREATE_JOIN = """
            insert into reprise_batch (name, parent, step, total, created_at, closed_at)
            values (:name, :parent, :step, :total, {now}, {now})
            """;

    private static final String FORGET_MEMBERS_OF = """
            delete from reprise_member
             where parent = :parent and batch in (select b.name from reprise_batch b where b.parent = :parent and b.step = :step)
            """;

    private static final String FORGET_JOIN = "delete from reprise_batch where parent = :parent and step = :step";

    private static final String FORGET_JOINS = "{delete reprise_batch by reprise_batch_parent} where parent {in ?}";

    private static final String FORGET_MEMBERS = "{delete reprise_member by primary} where parent {in ?}";

    private static final String FORGET_UNUSED = """
            delete from reprise_batch
             where parent = ? and step not in (select s.name from reprise_step s where s.job_id = ?)
            """;

    private static final String FORGET_UNCOUNTED = """
            delete from reprise_member
             where parent = ? and batch not in (select b.name from reprise_batch b where b.parent = ?)
            """;

    // The primary key serves it. A caller that adds members while another closes the batch waits for the other's
    // commit.
    private static final String ADD = """
            update reprise_batch
               set total = total + ?
             where name = ? and closed_at is null
            """;

    private static final String ADD_SIBLINGS = """
            update reprise_batch
               set total = total + ?
             where name = ? and ended_at is null
            """;

    private static final String COUNT = """
            update reprise_batch
               set succeeded = succeeded + :succeeded, dead = dead + :dead, cancelled = cancelled + :cancelled
             where name = :name
            """;

    private static final String LEAVE = "update reprise_job set chain = ? where id = ?";

    private static final String KEEP_MEMBER = """
            insert into reprise_member (parent, batch, place, job_id, state, result)
            values (:parent, :batch, :place, :job, :state, :result)
            {on_conflict (parent, batch, place)} job_id = {new.job_id}, state = {new.state}, result = {new.result}
            """;

    private static final String HAS_JOIN = "select parent from reprise_batch where name = ?";

    // The caller has locked these rows, so what they say stays true until the commit.
    private static final String WHOLE = """
            select name, case when total = succeeded then 1 else 0 end, cancelled, ended_at, success_at, on_success, on_end, parent
              from reprise_batch
             where name {in ?} and closed_at is not null and total = succeeded + dead + cancelled
             order by name
            """;

    private static final String END = """
            update reprise_batch
               set ended_at = coalesce(ended_at, {now}),
                   success_at = case when total = succeeded then coalesce(success_at, {now}) else success_at end
             where name = ?
            """;

    // The deadline begins with the end of the batch. MySQL assigns from left to right.
    private static final String LET_GO = """
            update reprise_job
               set deadline = deadline - first_due_at + {now}, first_due_at = {now}, due_at = {now}
             where id = ? and wait_reason = 'BATCH' and due_at > {now}
            """;

    private static final String WAKE_PARENT = """
            update reprise_job
               set due_at = {now}
             where id = ? and wait_reason = 'BATCH' and due_at > {now}
            """;

    private static final String STILL_WAITS = """
            select id
              from reprise_job
             where id = ? and wait_reason = 'BATCH' and due_at > {now}
            {for_update}
            """;

    // Waits for a transaction that ends a child: either it sees that the parent waits, or the parent sees its count.
    private static final String OPEN_JOINS = """
            select name
              from reprise_batch
             where parent = ? and step = ? and total > succeeded + dead + cancelled
            {for_update}
            """;

    private static final String LOCK_JOINS = """
            select name
              from reprise_batch
             where parent = ? and step = ?
             order by name
            {for_update}
            """;

    private static final String CLOSE = """
            update reprise_batch
               set closed_at = {now}
             where name = ? and closed_at is null
            """;

    // The primary key serves it. A member that is put back meanwhile waits for this transaction, or is first.
    private static final String LOCK = """
            select {columns}
              from reprise_batch
             where name = ?
            {for_update}
            """.replace("{columns}", COLUMNS);

    private static final String FINISH = "update reprise_batch set success_at = {now} where name = ?";

    private static final String FIND = "select " + COLUMNS + " from reprise_batch where name = ?";

    private static final String PAGE = """
            select {columns}
              from reprise_batch
             where name > ? and name >= ? and name < ? and parent is null
             order by name
             limit ?
            """.replace("{columns}", COLUMNS);

    private static final String MEMBERS = """
            select place, job_id, state, result
              from reprise_member
             where parent = ? and batch = ? and place > ?
             order by place
             limit ?
            """;

    // A dead letter that was put back is open again, and counts when it ends.
    private static final String OLD = """
            select name, on_success
              from reprise_batch
             where ended_at is not null and parent is null and ended_at < ? and total = succeeded + dead + cancelled
             order by ended_at
             limit ?
            """;

    private static final String UNCLOSED = """
            select name
              from reprise_batch
             where closed_at is null and parent is null and created_at < ? and total = succeeded + dead + cancelled
             order by created_at
             limit ?
            """;

    private static final String FORGET_HOPELESS = """
            delete from reprise_batch
             where name = ? and success_at is null and total = succeeded + dead + cancelled
            """;

    private static final String FORGET_WHOLE = """
            delete from reprise_batch
             where name = ? and total = succeeded + dead + cancelled
            """;

    // The caller has seen that it is not closed. A caller that adds a member or closes it waits for this transaction,
    // or is first.
    private static final String LOCK_UNCLOSED = """
            select on_success, on_end
              from reprise_batch
             where name = ? and closed_at is null and total = succeeded + dead + cancelled
            {for_update}
            """;

    private static final int MOST_OLD = 1_000;

    private Batches() {}

    /** Returns the text of the column chain: the membership, if there is one, and the chain. */
    public static @Nullable String column(@Nullable String member, @Nullable String chain) {
        return member == null ? chain : MEMBER + member + "\n" + Objects.requireNonNullElse(chain, "");
    }

    /** Returns how the column chain of every member of a batch begins, and of no other job. */
    public static String beginning(String batch) {
        return MEMBER + batch + (Membership.isJoin(batch) ? "#" : "\n");
    }

    /** Returns the membership in a column chain; null if there is none. */
    public static @Nullable Membership member(@Nullable String column) {
        return column == null || !column.startsWith(MEMBER) ? null : Membership.parse(column.substring(1, cut(column)));
    }

    /** Returns the chain in a column chain; null if there is none. */
    public static @Nullable String chain(@Nullable String column) {
        if (column == null || !column.startsWith(MEMBER)) {
            return column;
        }
        String chain = column.substring(Math.min(column.length(), cut(column) + 1));
        return chain.isEmpty() ? null : chain;
    }

    private static int cut(String column) {
        int cut = column.indexOf('\n');
        return cut < 0 ? column.length() : cut;
    }

    /** Writes the sums of a transaction, and ends the batches of which nothing is open any more. */
    public static void count(Session session, BatchTally tally) throws SQLException {
        if (tally.isEmpty()) {
            return;
        }
        List<Params> rows = new ArrayList<>();
        tally.sums()
                .forEach((name, sum) -> rows.add(Params.of("name", name)
                        .and("succeeded", sum.succeeded())
                        .and("dead", sum.dead())
                        .and("cancelled", sum.cancelled())));
        session.updateEachCounted(COUNT, rows);
        keepChildren(session, tally.children());
        end(session, tally.sums().keySet().toArray(String[]::new));
    }

    /**
     * A dead letter that was put back.
     *
     * @param id its present id
     * @param column its column chain
     * @param createdAt when it was first stored
     */
    public record Revived(JobId id, @Nullable String column, Instant createdAt) {}

    /** Counts dead letters that were put back. One that is of an earlier batch of the name is in none from now on. */
    public static void revive(Session session, List<Revived> jobs) throws SQLException {
        BatchTally tally = new BatchTally();
        Map<String, Optional<BatchState>> batches = new HashMap<>();
        for (Revived job : jobs) {
            Membership member = member(job.column);
            if (member == null) {
                continue;
            }
            String name = member.batch();
            if (!batches.containsKey(name)) {
                batches.put(name, find(session, name));
            }
            Optional<BatchState> batch = Objects.requireNonNull(batches.get(name));
            // Without a batch, too: one that gets this name later must not count the job.
            boolean isMember = batch.isPresent() && batch.get().takes(job.createdAt);
            if (!isMember && (batch.isPresent() || !member.isChild())) {
                session.update(LEAVE, chain(job.column), job.id);
            } else {
                tally.revived(member);
            }
        }
        count(session, tally);
    }

    private static void keepChildren(Session session, List<BatchTally.Child> children) throws SQLException {
        Map<String, Optional<Long>> parents = new HashMap<>();
        List<Params> rows = new ArrayList<>();
        for (BatchTally.Child child : children) {
            String batch = child.batch();
            if (!parents.containsKey(batch)) {
                parents.put(batch, session.first(HAS_JOIN, SqlRow::number, batch));
            }
            // None if the join was forgotten, or its job deleted.
            Optional<Long> parent = Objects.requireNonNull(parents.get(batch));
            BatchMember member = child.member();
            parent.ifPresent(id -> rows.add(Params.of("parent", id)
                    .and("batch", batch)
                    .and("place", member.place())
                    .and("job", member.job())
                    .and("state", member.state())
                    .and("result", member.result())));
        }
        if (!rows.isEmpty()) {
            session.updateEachCounted(session.dialect().sql(KEEP_MEMBER), rows);
        }
    }

    private record Whole(
            String name,
            boolean success,
            long cancelled,
            @Nullable Long endedAt,
            @Nullable Long succeededAt,
            @Nullable Long onSuccess,
            @Nullable Long onEnd,
            @Nullable Long parent) {}

    private static void end(Session session, String[] names) throws SQLException {
        Dialect dialect = session.dialect();
        List<Whole> whole = session.list(
                dialect.sql(WHOLE),
                row -> new Whole(
                        row.text(),
                        row.integer() == 1,
                        row.number(),
                        row.numberOrNull(),
                        row.numberOrNull(),
                        row.numberOrNull(),
                        row.numberOrNull(),
                        row.numberOrNull()),
                (Object) names);
        for (Whole batch : whole) {
            session.update(dialect.sql(END), batch.name);
            boolean first = batch.endedAt == null;
            if (first && batch.onEnd != null) {
                session.update(dialect.sql(LET_GO), batch.onEnd);
            }
            if (batch.success && batch.succeededAt == null && batch.onSuccess != null) {
                session.update(dialect.sql(LET_GO), batch.onSuccess);
            }
            if (batch.cancelled > 0 && batch.succeededAt == null && batch.onSuccess != null) {
                giveUp(session, batch.onSuccess);
            }
            if (batch.parent != null) {
                session.update(dialect.sql(WAKE_PARENT), batch.parent);
            }
        }
    }

    /** Cancels the job for a success that cannot come any more and has not come. No claim takes it: it is not due. */
    private static void giveUp(Session session, long job) throws SQLException {
        if (session.first(session.dialect().sql(STILL_WAITS), SqlRow::number, job)
                .isPresent()) {
            Endings.end(session, List.of(job), JobState.CANCELLED, null);
        }
    }

    /** Creates a batch. Returns false if there is one of this name. */
    public static boolean create(Session session, String name) throws SQLException {
        Dialect dialect = session.dialect();
        return dialect.insertUnlessThere(session, dialect.sql(CREATE), name) == 1;
    }

    /** Lets jobs wait for a batch. */
    public static void follow(Session session, String name, @Nullable JobId onSuccess, @Nullable JobId onEnd)
            throws SQLException {
        session.update(FOLLOWERS, onSuccess, onEnd, name);
        for (JobId job : new @Nullable JobId[] {onSuccess, onEnd}) {
            if (job != null) {
                session.update(HOLD_BACK, job);
            }
        }
    }

    /** Creates the batch of a join, in place of an earlier one of the same step. */
    public static void join(Session session, JobId parent, String step, String name, int children) throws SQLException {
        Params params =
                Params.of("parent", parent).and("step", step).and("name", name).and("total", children);
        session.update(FORGET_MEMBERS_OF, params);
        session.update(FORGET_JOIN, params);
        session.update(session.dialect().sql(CREATE_JOIN), params);
    }

    /** Makes a parent due that begins to wait again for a join, if no child of it is open any more. */
    public static void wakeIfJoined(Session session, JobId parent, String step) throws SQLException {
        Dialect dialect = session.dialect();
        session.list(dialect.sql(LOCK_JOINS), SqlRow::text, parent, step);
        if (session.list(dialect.sql(OPEN_JOINS), SqlRow::text, parent, step).isEmpty()) {
            session.update(dialect.sql(WAKE_PARENT), parent);
        }
    }

    /** Counts new members. */
    public static void add(Session session, Map<String, Integer> added, boolean siblings) throws SQLException {
        for (Map.Entry<String, Integer> batch : new TreeMap<>(added).entrySet()) {
            if (session.update(siblings ? ADD_SIBLINGS : ADD, batch.getValue(), batch.getKey()) != 1) {
                throw find(session, batch.getKey()).isEmpty()
                        ? RefusedException.noBatch(batch.getKey())
                        : RefusedException.closedBatch(batch.getKey(), siblings);
            }
        }
    }

    public static Optional<BatchState> find(Session session, String name) throws SQLException {
        return session.first(FIND, Batches::read, name);
    }

    public static Page<BatchState> page(Session session, String prefix, int limit, @Nullable String cursor)
            throws SQLException {
        String after = Objects.requireNonNullElse(cursor, "");
        // Names are of ASCII; the tilde comes after all their characters.
        List<BatchState> found = session.list(PAGE, Batches::read, after, prefix, prefix + "~", limit + 1);
        boolean more = found.size() > limit;
        List<BatchState> items = more ? found.subList(0, limit) : found;
        return new Page<>(items, more ? items.get(limit - 1).name() : null);
    }

    /** Closes a batch. Returns it as it was before; empty if there is none. */
    public static Optional<BatchState> close(Session session, String name) throws SQLException {
        // The update locks the row, so the state before is that of the row without its new time.
        boolean closed = session.update(session.dialect().sql(CLOSE), name) == 1;
        Optional<BatchState> there = find(session, name);
        if (closed) {
            end(session, new String[] {name});
        }
        return closed ? there.map(Batches::unclosed) : there;
    }

    /**
     * Lets the job for the success go if the batch has ended with dead letters. Returns the batch as it was before; empty if
     * there is none.
     */
    public static Optional<BatchState> finish(Session session, String name) throws SQLException {
        Dialect dialect = session.dialect();
        Optional<BatchState> before = session.first(dialect.sql(LOCK), Batches::read, name);
        if (before.isPresent() && before.get().isFinishable()) {
            session.update(dialect.sql(FINISH), name);
            session.update(dialect.sql(LET_GO), before.get().onSuccess());
        }
        return before;
    }

    private static BatchState unclosed(BatchState batch) {
        return new BatchState(
                batch.name(),
                batch.total(),
                batch.succeeded(),
                batch.dead(),
                batch.cancelled(),
                batch.createdAt(),
                null,
                null,
                null,
                batch.onSuccess(),
                batch.onEnd());
    }

    public static List<BatchMember> members(Session session, String batch, int after, int limit) throws SQLException {
        Optional<Long> parent = session.first(HAS_JOIN, SqlRow::number, batch);
        return parent.isEmpty()
                ? List.of()
                : session.list(
                        MEMBERS,
                        row -> new BatchMember(
                                row.integer(),
                                new JobId(row.number()),
                                SqlRow.constant(JobState.class, row.text(), JobState.FAILED),
                                row.textOrNull()),
                        parent.get(),
                        batch,
                        after,
                        limit);
    }

    /** Deletes the joins of a job whose steps were forgotten. Their children count no more. */
    public static void forgetUnused(Session session, JobId parent) throws SQLException {
        session.update(FORGET_UNUSED, parent, parent);
        session.update(FORGET_UNCOUNTED, parent, parent);
    }

    /** Deletes the joins of jobs that are deleted or begin again. */
    public static void forget(Session session, long[] parents) throws SQLException {
        Dialect dialect = session.dialect();
        session.update(dialect.sql(FORGET_MEMBERS), (Object) parents);
        session.update(dialect.sql(FORGET_JOINS), (Object) parents);
    }

    /** Deletes batches that ended long ago. Returns whether there may be more. */
    public static boolean forgetOld(Session session) throws SQLException {
        record Old(String name, @Nullable Long onSuccess) {}
        long before = session.now() - SqlTime.of(BatchState.KEPT);
        List<Old> old = session.list(OLD, row -> new Old(row.text(), row.numberOrNull()), before, MOST_OLD);
        for (Old batch : old) {
            // If the success has come, its job is due and belongs to nobody else.
            if (session.update(FORGET_HOPELESS, batch.name) == 0) {
                session.update(FORGET_WHOLE, batch.name);
            } else if (batch.onSuccess != null) {
                giveUp(session, batch.onSuccess);
            }
        }
        return old.size() == MOST_OLD;
    }

    /** Returns names of batches that nobody has closed long after their creation, and of which nothing is open. */
    public static List<String> unclosed(Session session) throws SQLException {
        return session.list(UNCLOSED, SqlRow::text, session.now() - SqlTime.of(BatchState.KEPT), MOST_OLD);
    }

    /** Deletes such a batch, and cancels the jobs that wait for it. */
    public static void giveUp(Session session, String name) throws SQLException {
        record Waiting(@Nullable Long onSuccess, @Nullable Long onEnd) {}
        Optional<Waiting> waiting = session.first(
                session.dialect().sql(LOCK_UNCLOSED), row -> new Waiting(row.numberOrNull(), row.numberOrNull()), name);
        if (waiting.isEmpty()) {
            return;
        }
        session.update(FORGET_WHOLE, name);
        for (Long job : new @Nullable Long[] {waiting.get().onSuccess, waiting.get().onEnd}) {
            if (job != null) {
                giveUp(session, job);
            }
        }
    }

    private static BatchState read(SqlRow row) throws SQLException {
        return new BatchState(
                row.text(),
                row.number(),
                row.number(),
                row.number(),
                row.number(),
                row.instant(),
                row.instantOrNull(),
                row.instantOrNull(),
                row.instantOrNull(),
                jobOrNull(row.numberOrNull()),
                jobOrNull(row.numberOrNull()));
    }

    private static @Nullable JobId jobOrNull(@Nullable Long id) {
        return id == null ? null : new JobId(id);
    }
}
