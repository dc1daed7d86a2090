// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.batch.Membership;
import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Stores new jobs, and resolves their unique and idempotency keys. Each database adds its way to store
 * many jobs ({@link Bulk}).
 */
public final class JobInserts {

    // The statement computes due_at by the database's clock. Only the unique key of a live job can conflict; the loser
    // of the race gets no row.
    private static final String INSERT = """
            with asked as (
              select {now} as now, cast(:id as bigint) as id, cast(:delay_us as bigint) as delay_us,
                     cast(:asked_at as bigint) as asked_at, cast(:deadline_us as bigint) as deadline_us),
            due as (
              select now, id, deadline_us,
                     case when coalesce(asked_at, now + coalesce(delay_us, 0)) > now
                          then coalesce(asked_at, now + coalesce(delay_us, 0)) else now end as due_at
                from asked)
            insert into reprise_job (created_at, id, due_at, first_due_at, deadline, wait_reason, {spec})
            select now, coalesce(id, {next_id}), due_at, due_at, due_at + deadline_us,
                   case when due_at > now then 'DELAYED' else 'NEW' end, {spec_params}
              from due
             where true
            on conflict do nothing
            returning id, due_at
            """;

    // If another transaction is inserting the key, the insert waits for that transaction; then the key is known.
    private static final String REMEMBER = """
            insert into reprise_idempotency ({key}, job_id)
            values (?, ?)
            """;

    private static final String REMEMBERED = """
            select job_id
              from reprise_idempotency
             where {key} = ?
            """;

    // Looks up the one job. The planner could begin a join with all jobs.
    private static final String KNOWN = """
            select i.job_id,
                   coalesce((select j.due_at from reprise_job j where j.id = i.job_id),
                            (select f.first_due_at from {finished} f where f.id = i.job_id))
              from reprise_idempotency i
             where i.{key} = ?
            """;

    // The unique index reprise_job_unique serves it.
    private static final String HOLDER = """
            select id, due_at, queue, case when chain like '@%' then chain end, token, wait_reason
              from reprise_job
             where unique_key = ? and due_at is not null
            """;

    // Keeps id, counters, token and lane, but unparks a parked job. The queue's lock keeps claims away. The time of the
    // first request bounds the new due time.
    private static final String REPLACE = """
            with asked as (
              select {now} as now, cast(:delay_us as bigint) as delay_us, cast(:asked_at as bigint) as asked_at,
                     cast(:deadline_us as bigint) as deadline_us,
                     (select created_at from reprise_job where id = :id) + cast(:latest_us as bigint) as latest),
            wanted as (
              select now, deadline_us, latest, coalesce(asked_at, now + coalesce(delay_us, 0)) as due_at
                from asked),
            bounded as (
              select now, deadline_us, case when latest < due_at then latest else due_at end as due_at
                from wanted),
            due as (
              select now, deadline_us, case when due_at > now then due_at else now end as due_at
                from bounded)
            update reprise_job
               set due_at = (select due_at from due),
                   first_due_at = (select due_at from due),
                   deadline = (select due_at + deadline_us from due),
                   wait_reason = (select case when due_at > now then 'DELAYED' else 'NEW' end from due),
                   lane = lane % 3,
                   parked_by = null,
                   ({spec}) = (select {spec_casts})
             where id = :id and due_at is not null
            returning id, due_at
            """;

    private final PolicyTable policies;
    private final SpecColumns specs;
    private final Bulk bulk;

    /** How a database stores many jobs. */
    public interface Bulk {
        List<Enqueued> insert(JobInserts inserts, Session session, List<JobSpec> specs, boolean tells)
                throws SQLException;

        /** Stores one job, under the given id if there is one. Returns empty if its unique key is held. */
        default Optional<Enqueued> insertOne(JobInserts inserts, Session session, JobSpec spec, @Nullable Long id)
                throws SQLException {
            return inserts.insertReturning(session, spec, id);
        }

        /** Replaces the spec of a waiting job. Returns empty if the job is no longer live. */
        default Optional<Enqueued> replace(JobInserts inserts, Session session, JobSpec spec, JobId id)
                throws SQLException {
            return inserts.replaceReturning(session, spec, id);
        }

        /** Whether another transaction can take keys meanwhile, so that they must be locked in their order. */
        default boolean locksKeys() {
            return true;
        }

        /**
         * Tries to store many jobs with keys, of which no two are equal. Jobs whose keys are held are left out. Returns
         * null if the jobs must be stored one by one.
         *
         * @param places the place of each job in the call of the caller. Ids follow it, as jobs that are due at the same
         *     time run in the order of their ids
         */
        default @Nullable Tried insertKeyed(JobInserts inserts, Session session, List<JobSpec> specs, int[] places)
                throws SQLException {
            return null;
        }

        /** Whether one statement stores that many jobs, so that no transaction is needed around it. */
        boolean isOneStatement(int jobs);
    }

    /** The results of a try to store many jobs, in their order. */
    public static final class Tried {

        /** Null where the job is not stored yet. */
        public final @Nullable Enqueued[] answers;

        /** Where the job is not stored: the id that its idempotency key now leads to, if the key was free. */
        public final @Nullable Long[] remembered;

        public Tried(int jobs) {
            this.answers = new Enqueued[jobs];
            this.remembered = new Long[jobs];
        }
    }

    /** From this number on, jobs with keys are first tried together. */
    private static final int TOGETHER_FROM = 4;

    public JobInserts(PolicyTable policies, SpecColumns specs, Bulk bulk) {
        this.policies = policies;
        this.specs = specs;
        this.bulk = bulk;
    }

    public static Enqueued inserted(SqlRow row, boolean created) throws SQLException {
        return new Enqueued(new JobId(row.number()), created, row.instant());
    }

    public static boolean hasKey(JobSpec spec) {
        return spec.key() != null || spec.idempotencyKey() != null;
    }

    /** Whether a job can be refused, or needs more than one statement. */
    public static boolean isPlain(JobSpec spec) {
        return !hasKey(spec) && spec.batch() == null;
    }

    public boolean isOneStatement(List<JobSpec> jobs) {
        return bulk.isOneStatement(jobs.size()) && jobs.stream().allMatch(JobInserts::isPlain);
    }

    public List<Enqueued> insert(Session session, List<JobSpec> jobs) throws SQLException {
        return insert(session, jobs, false);
    }

    /**
     * Stores jobs.
     *
     * @param tells whether to notify other processes of the work when this is committed
     */
    public List<Enqueued> insert(Session session, List<JobSpec> jobs, boolean tells) throws SQLException {
        policies.store(session, jobs.stream().map(JobSpec::policy).distinct().toList());
        BitSet repeated = new BitSet();
        List<Enqueued> answers = store(session, jobs, tells, repeated);
        count(session, jobs, answers, repeated);
        return answers;
    }

    /**
     * Counts new members in their batches, children of joins excepted: their batch is created with its number.
     *
     * @param repeated the jobs that an idempotency key answered. Their batch is not asked: it may be closed meanwhile
     */
    private static void count(Session session, List<JobSpec> jobs, List<Enqueued> answers, BitSet repeated)
            throws SQLException {
        Map<String, Integer> members = new HashMap<>();
        Map<String, Integer> siblings = new HashMap<>();
        for (int i = 0; i < answers.size(); i++) {
            Membership member = Membership.in(jobs.get(i));
            if (member != null && !member.isChild() && !repeated.get(i)) {
                // A batch without a new member is looked at too: it may refuse.
                (jobs.get(i).isSibling() ? siblings : members)
                        .merge(member.batch(), answers.get(i).created() ? 1 : 0, Integer::sum);
            }
        }
        Batches.add(session, members, false);
        Batches.add(session, siblings, true);
    }

    private List<Enqueued> store(Session session, List<JobSpec> jobs, boolean tells, BitSet repeated)
            throws SQLException {
        if (jobs.stream().noneMatch(JobInserts::hasKey)) {
            return bulk.insert(this, session, jobs, tells);
        }
        @Nullable Enqueued[] answers = new Enqueued[jobs.size()];
        @Nullable Long[] ids = new Long[jobs.size()];
        int[] order = bulk.locksKeys()
                ? inLockOrder(jobs)
                : IntStream.range(0, jobs.size()).toArray();
        for (int i : insertTogether(session, jobs, order, answers, ids)) {
            answers[i] = insert(session, jobs, i, ids[i], repeated);
        }
        return Arrays.asList(answers).stream()
                .map(java.util.Objects::requireNonNull)
                .toList();
    }

    /**
     * Stores the first job of each key if the key is free. Returns the other jobs, in their order.
     *
     * @param ids gets the ids of few jobs: they are stored in the order of their keys, but get ids in that of the call
     */
    private int[] insertTogether(
            Session session, List<JobSpec> jobs, int[] order, @Nullable Enqueued[] answers, @Nullable Long[] ids)
            throws SQLException {
        Set<String> keys = new HashSet<>();
        Set<String> idempotencyKeys = new HashSet<>();
        int[] first = Arrays.stream(order)
                .filter(i -> {
                    boolean newKey = isNew(keys, jobs.get(i).key());
                    boolean once = isNew(idempotencyKeys, jobs.get(i).idempotencyKey()) && newKey;
                    return once && !follows(jobs.get(i));
                })
                .toArray();
        Tried tried = first.length < TOGETHER_FROM
                ? null
                : bulk.insertKeyed(
                        this, session, Arrays.stream(first).mapToObj(jobs::get).toList(), places(first));
        if (tried == null) {
            if (bulk.locksKeys() && first.length > 1) {
                for (int i : Arrays.stream(first).sorted().toArray()) {
                    ids[i] = session.dialect().nextId(session);
                }
            }
            return order;
        }
        for (int n = 0; n < first.length; n++) {
            Long id = tried.remembered[n];
            answers[first[n]] = tried.answers[n];
            if (tried.answers[n] == null && id != null) {
                answers[first[n]] = insertRemembered(session, jobs.get(first[n]), id);
            }
        }
        return Arrays.stream(order).filter(i -> answers[i] == null).toArray();
    }

    /** The place of each number if all were sorted. */
    private static int[] places(int[] numbers) {
        int[] sorted = Arrays.stream(numbers).sorted().toArray();
        return Arrays.stream(numbers)
                .map(number -> Arrays.binarySearch(sorted, number))
                .toArray();
    }

    private static boolean follows(JobSpec spec) {
        return spec.key() != null && spec.keyRule() == KeyRule.FOLLOW;
    }

    private static boolean isNew(Set<String> seen, @Nullable String key) {
        return key == null || seen.add(key);
    }

    /** Locks keys in their order, so that two batches with the same keys do not deadlock. */
    private static int[] inLockOrder(List<JobSpec> jobs) {
        Comparator<@Nullable String> byKey = Comparator.nullsFirst(Comparator.naturalOrder());
        return IntStream.range(0, jobs.size())
                .boxed()
                .sorted(Comparator.comparing((Integer i) -> jobs.get(i).idempotencyKey(), byKey)
                        .thenComparing(i -> jobs.get(i).key(), byKey))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private Enqueued insert(Session session, List<JobSpec> jobs, int i, @Nullable Long given, BitSet repeated)
            throws SQLException {
        JobSpec spec = jobs.get(i);
        String key = spec.idempotencyKey();
        if (key == null) {
            return insert(session, spec, given);
        }
        Dialect dialect = session.dialect();
        for (boolean met = false; ; met = true) {
            Optional<Enqueued> known = known(session, key, met);
            if (known.isPresent()) {
                checkProof(session, spec, known.get());
                repeated.set(i);
                return known.get();
            }
            long id = given == null ? dialect.nextId(session) : given;
            if (dialect.insertUnlessThere(session, dialect.sql(REMEMBER), key, id) == 1) {
                return insertRemembered(session, spec, id);
            }
        }
    }

    /** Stores a job whose idempotency key already leads to this id. */
    private Enqueued insertRemembered(Session session, JobSpec spec, long id) throws SQLException {
        Dialect dialect = session.dialect();
        Enqueued answer = insert(session, spec, id);
        if (answer.id().value() != id) {
            redirect(session, java.util.Objects.requireNonNull(spec.idempotencyKey()), answer.id());
        }
        if (spec.idempotencyProof() != null) {
            dialect.insertUnlessThere(session, dialect.sql(REMEMBER), spec.idempotencyProof(), answer.id());
        }
        return answer;
    }

    /** One transaction stores key and proof, so a session that sees the key sees the proof. */
    private static void checkProof(Session session, JobSpec spec, Enqueued known) throws SQLException {
        String proof = spec.idempotencyProof();
        if (proof != null
                && latest(session, session.dialect().sql(REMEMBERED), SqlRow::number, proof, true)
                        .isEmpty()) {
            throw new KeyReusedException(String.valueOf(spec.idempotencyKey()), known.id());
        }
    }

    /** Returns the job of the idempotency key, as far as this session can see. */
    public static Optional<JobId> remembered(Session session, String key) throws SQLException {
        return session.first(session.dialect().sql(REMEMBERED), row -> new JobId(row.number()), key);
    }

    /**
     * Returns the job of the idempotency key. Only the row of the key is locked: the job is in one of two tables, and
     * locking a missing row would lock a gap.
     */
    private static Optional<Enqueued> known(Session session, String key, boolean met) throws SQLException {
        Dialect dialect = session.dialect();
        Optional<Long> job = latest(session, dialect.sql(REMEMBERED), SqlRow::number, key, met);
        if (job.isEmpty()) {
            return Optional.empty();
        }
        // The row is visible if it is ours or was there from the start. Otherwise it was committed after the
        // caller's transaction began.
        Optional<Enqueued> seen = session.first(dialect.sql(KNOWN), row -> inserted(row, false), key);
        return seen.isPresent()
                ? seen
                : dialect.committed(
                        session, other -> other.first(dialect.sql(KNOWN), row -> inserted(row, false), key));
    }

    /**
     * Reads the present holder of a key. If that needs a lock, the key is locked only after a holder was seen: a lock
     * on a free key would also lock the gap beside it.
     */
    static <T> Optional<T> latest(Session session, String sql, Session.Reader<T> reader, String key, boolean met)
            throws SQLException {
        String latest = session.dialect().latest(session);
        if (!latest.isEmpty() && !met && session.first(sql, reader, key).isEmpty()) {
            return Optional.empty();
        }
        return session.first(sql + latest, reader, key);
    }

    /** The unique key was held, so the new idempotency key leads to the holder. */
    private static void redirect(Session session, String key, JobId job) throws SQLException {
        session.update(session.dialect().sql("update reprise_idempotency set job_id = ? where {key} = ?"), job, key);
    }

    private Enqueued insert(Session session, JobSpec spec, @Nullable Long id) throws SQLException {
        while (true) {
            // The one that waits behind the key comes before a key that has just become free.
            Optional<Enqueued> follower = follows(spec) ? replaceFollower(session, spec) : Optional.empty();
            if (follower.isPresent()) {
                return follower.get();
            }
            Optional<Enqueued> created = bulk.insertOne(this, session, spec, id);
            if (created.isPresent()) {
                return created.get();
            }
            if (follows(spec)) {
                Optional<Enqueued> behind = insertBehind(session, spec, id);
                if (behind.isPresent()) {
                    return behind.get();
                }
                continue;
            }
            Optional<Enqueued> holder = holder(session, spec);
            if (holder.isPresent()) {
                return holder.get();
            }
        }
    }

    private Optional<Enqueued> replaceFollower(Session session, JobSpec spec) throws SQLException {
        String key = java.util.Objects.requireNonNull(spec.key());
        Optional<JobId> follower = Followers.of(session, key);
        if (follower.isEmpty()) {
            return Optional.empty();
        }
        // The holder has the key, so this job gets it as one that waits.
        Optional<Enqueued> replaced = bulk.replace(
                this, session, spec.toBuilder().key(null, KeyRule.KEEP).build(), follower.get());
        return replaced.isEmpty() ? replaced : Optional.of(holdBack(session, key, replaced.get()));
    }

    /** Stores a job behind a holder that has begun, or replaces one that has not. Returns empty if the key moved on. */
    private Optional<Enqueued> insertBehind(Session session, JobSpec spec, @Nullable Long id) throws SQLException {
        String key = java.util.Objects.requireNonNull(spec.key());
        Optional<Holder> holder = lockedHolder(session, key);
        if (holder.isEmpty()) {
            return Optional.empty();
        }
        if (!holder.get().hasRun()
                && !holder.get().awaitsBatch()
                && !LeaseTable.isHeld(session, holder.get().id())) {
            return replace(session, spec, holder.get());
        }
        long given = id == null ? session.dialect().nextId(session) : id;
        if (!Followers.add(session, key, given)) {
            return Optional.empty();
        }
        Enqueued stored = bulk.insertOne(
                        this, session, spec.toBuilder().key(null, KeyRule.KEEP).build(), given)
                .orElseThrow();
        return Optional.of(holdBack(session, key, stored));
    }

    private static Enqueued holdBack(Session session, String key, Enqueued job) throws SQLException {
        long due = Followers.holdBack(session, key, job.id());
        return new Enqueued(job.id(), job.created(), SqlTime.instant(due));
    }

    /** Returns the holder of a key after locking its queue; empty if it has moved on. */
    private static Optional<Holder> lockedHolder(Session session, String key) throws SQLException {
        Optional<Holder> found = holder(session, key, true);
        if (found.isEmpty()) {
            return found;
        }
        session.dialect().lockQueue(session, found.get().queue());
        Optional<Holder> locked = holder(session, key, true);
        return locked.map(Holder::queue).equals(found.map(Holder::queue)) ? locked : Optional.empty();
    }

    /** Stores row by row, where a statement costs no round trip. */
    public List<Enqueued> insertEach(Session session, List<JobSpec> jobs) throws SQLException {
        List<Enqueued> answers = new ArrayList<>(jobs.size());
        for (JobSpec spec : jobs) {
            answers.add(insert(session, spec, null));
        }
        return answers;
    }

    /** Returns empty if the unique key is held. */
    Optional<Enqueued> insertReturning(Session session, JobSpec spec, @Nullable Long id) throws SQLException {
        return session.first(session.dialect().sql(INSERT), row -> inserted(row, true), params(spec, id));
    }

    /** Returns empty if the job is no longer live. */
    Optional<Enqueued> replaceReturning(Session session, JobSpec spec, JobId id) throws SQLException {
        Params params = params(spec, id.value()).and("latest_us", SqlTime.ofNullable(spec.atLatest()));
        return session.first(session.dialect().sql(REPLACE), row -> inserted(row, false), params);
    }

    private Params params(JobSpec spec, @Nullable Long id) {
        return specs.params(spec).and("id", id).and("deadline_us", SpecColumns.deadline(spec));
    }

    public SpecColumns specs() {
        return specs;
    }

    private record Holder(
            JobId id,
            Enqueued answer,
            String queue,
            @Nullable Membership member,
            boolean hasRun,
            boolean awaitsBatch) {}

    /**
     * Applies the key rule: keeps, rejects or replaces the job that holds the unique key. Returns empty if that job
     * has just released the key.
     */
    private Optional<Enqueued> holder(Session session, JobSpec spec) throws SQLException {
        String key = java.util.Objects.requireNonNull(spec.key());
        Optional<Holder> found = holder(session, key, true);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        if (spec.keyRule() == KeyRule.KEEP) {
            return found.map(Holder::answer);
        }
        if (spec.keyRule() == KeyRule.REJECT) {
            throw new DuplicateKeyException(key, found.get().id());
        }
        Optional<Holder> locked = lockedHolder(session, key);
        return locked.isEmpty() ? Optional.empty() : replace(session, spec, locked.get());
    }

    private Optional<Enqueued> replace(Session session, JobSpec spec, Holder holder) throws SQLException {
        if (holder.awaitsBatch()) {
            throw new DuplicateKeyException(java.util.Objects.requireNonNull(spec.key()), holder.id());
        }
        // A member stays a member after the replacement.
        Membership member = holder.member();
        JobSpec replacing =
                spec.toBuilder().batch(member == null ? null : member.toText()).build();
        return replace(session, replacing, holder.id());
    }

    private static Optional<Holder> holder(Session session, String key, boolean met) throws SQLException {
        return latest(session, HOLDER, JobInserts::readHolder, key, met);
    }

    public static boolean isHeld(Session session, String key) throws SQLException {
        return holder(session, key, false).isPresent();
    }

    private static Holder readHolder(SqlRow row) throws SQLException {
        Enqueued answer = inserted(row, false);
        return new Holder(
                answer.id(),
                answer,
                row.text(),
                Batches.member(row.textOrNull()),
                row.number() > 0,
                Job.isHeldByBatch(row.constantOrNull(WaitReason.class, WaitReason.MANUAL), answer.dueAt()));
    }

    /** Returns empty if the job has just ended: settles do not wait for the queue's lock. */
    private Optional<Enqueued> replace(Session session, JobSpec spec, JobId id) throws SQLException {
        if (LeaseTable.isHeld(session, id)) {
            throw new DuplicateKeyException(java.util.Objects.requireNonNull(spec.key()), id);
        }
        Optional<Enqueued> replaced = bulk.replace(this, session, spec, id);
        if (replaced.isPresent()) {
            // The steps were done for another payload.
            StepTable.forget(session, id.value());
        }
        return replaced;
    }

    public static @Nullable Object[] concat(@Nullable Object[] first, @Nullable Object[] second) {
        List<@Nullable Object> all = new ArrayList<>(Arrays.asList(first));
        all.addAll(Arrays.asList(second));
        return all.toArray();
    }
}
