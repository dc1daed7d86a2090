// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.batch.Membership;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Stores specs. It reads the holders of keys, plans all writes, and then writes. If another writer was faster, a unique
 * index refuses the write, and everything begins again.
 *
 * <p>One spec is one write. Several specs, or one whose idempotency key may belong to a moved dead letter, are one
 * transaction. Without transactions, a failure deletes the jobs that were inserted before it.
 */
final class MongoInserts {

    private static final String WHAT = "store jobs";
    private static final int MOST_ROUNDS = 50;

    /** Thrown if another writer took a key, or the holder changed, between read and write. */
    @SuppressWarnings("serial")
    static final class Overtaken extends RuntimeException {
        Overtaken(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private final Mongo mongo;

    MongoInserts(Mongo mongo) {
        this.mongo = mongo;
    }

    /** Returns the job of the idempotency key, moved dead letters included. */
    static Optional<JobId> remembered(MongoScope scope, String key) {
        List<Document> known = Batch.found(scope.jobs(), FieldNames.IDEMPOTENCY_KEYS, List.of(key));
        if (known.isEmpty() && scope.hasDead()) {
            known = Batch.found(scope.dead(), FieldNames.IDEMPOTENCY_KEYS, List.of(key));
        }
        return known.stream().findFirst().map(job -> new JobId(JobDocs.idOf(job)));
    }

    List<Enqueued> insert(List<JobSpec> specs) {
        if (specs.isEmpty()) {
            return List.of();
        }
        boolean alone = specs.size() == 1
                && specs.get(0).batch() == null
                && !(mongo.movesDeadLetters() && specs.get(0).idempotencyKey() != null);
        return alone
                ? untilNotOvertaken(() -> mongo.run(WHAT, scope -> insert(scope, specs)))
                : untilNotOvertaken(() -> mongo.atomically(WHAT, scope -> insert(scope, specs)));
    }

    /** Runs the work again if it lost a race for a key. The next round finds the winner. */
    static <T extends @Nullable Object> T untilNotOvertaken(Supplier<T> work) {
        for (int round = 1; ; round++) {
            try {
                return work.get();
            } catch (Overtaken e) {
                if (round == MOST_ROUNDS) {
                    throw new StoreException("MongoDB could not " + WHAT + ": " + e.getMessage(), e);
                }
            }
        }
    }

    /** Does one round. Throws {@link Overtaken} if another round is needed. */
    List<Enqueued> insert(MongoScope scope, List<JobSpec> specs) {
        check(specs);
        return insert(scope, specs, scope.next("job", specs.size()) - specs.size());
    }

    /** Does one round for a job that already has its id. */
    List<Enqueued> insert(MongoScope scope, JobSpec spec, JobId id) {
        return insert(scope, List.of(spec), id.value() - 1);
    }

    private static List<Enqueued> insert(MongoScope scope, List<JobSpec> specs, long lastId) {
        Batch batch = new Batch(scope, scope.now(), lastId);
        batch.look(specs);
        BitSet repeated = new BitSet();
        List<Enqueued> answers = new ArrayList<>();
        for (JobSpec spec : specs) {
            repeated.set(answers.size(), batch.isAnswered(spec));
            answers.add(batch.plan(spec));
        }
        Map<Membership, Integer> members = members(specs, answers, repeated, false);
        Map<Membership, Integer> siblings = members(specs, answers, repeated, true);
        // Counted first: a batch that counts too many does not end early.
        MongoBatches.add(scope, members, false);
        MongoBatches.add(scope, siblings, true);
        try {
            batch.write();
        } catch (RuntimeException e) {
            if (!scope.isTransaction()) {
                MongoBatches.takeBack(scope, members);
                MongoBatches.takeBack(scope, siblings);
            }
            throw e;
        }
        return answers;
    }

    /**
     * Returns how many new members each batch gets. Children of joins are counted when their batch is created.
     *
     * @param repeated the jobs that an idempotency key answered. Their batch is not asked: it may be closed meanwhile
     */
    private static Map<Membership, Integer> members(
            List<JobSpec> specs, List<Enqueued> answers, BitSet repeated, boolean siblings) {
        Map<Membership, Integer> members = new HashMap<>();
        for (int i = 0; i < answers.size(); i++) {
            Membership member = Membership.in(specs.get(i));
            if (member != null && !member.isChild() && specs.get(i).isSibling() == siblings && !repeated.get(i)) {
                members.merge(member, answers.get(i).created() ? 1 : 0, Integer::sum);
            }
        }
        return members;
    }

    /** Refuses specs with keys if the store has no keys. */
    void check(List<JobSpec> specs) {
        if (!mongo.hasKeys()) {
            specs.forEach(MongoInserts::refuseKeys);
        }
    }

    private static void refuseKeys(JobSpec spec) {
        if (spec.key() != null || spec.idempotencyKey() != null) {
            throw new StoreException(
                    "MongoDB could not " + WHAT + ": the store was opened withoutKeys, and a job of type " + spec.type()
                            + " has one",
                    new IllegalArgumentException("key"),
                    false);
        }
    }

    /** The work of one call. All of it is planned before anything is written, so that a refusal has no effect. */
    private static final class Batch {

        private final MongoScope scope;
        private final long now;
        private final ObjectId mark = new ObjectId();
        private long lastId;
        private final Map<String, Document> byIdempotencyKey = new HashMap<>();
        private final Map<String, Document> byKey = new HashMap<>();
        private final Map<Long, Document> fresh = new LinkedHashMap<>();
        private final Map<Long, List<Replacement>> replacements = new LinkedHashMap<>();
        private final Map<Long, List<JobSpec>> kept = new LinkedHashMap<>();

        /**
         * A spec for a stored job.
         *
         * @param created when that job was first stored
         * @param follower whether that job waits for the holder of its key
         */
        private record Replacement(JobSpec spec, long created, boolean follower) {}

        Batch(MongoScope scope, long now, long lastId) {
            this.scope = scope;
            this.now = now;
            this.lastId = lastId;
        }

        void look(List<JobSpec> specs) {
            List<String> idempotencyKeys = specs.stream()
                    .flatMap(spec -> JobDocs.idempotencyKeys(spec).stream())
                    .distinct()
                    .toList();
            if (!idempotencyKeys.isEmpty()) {
                List<Document> known = found(scope.jobs(), FieldNames.IDEMPOTENCY_KEYS, idempotencyKeys);
                if (scope.hasDead()) {
                    known.addAll(found(scope.dead(), FieldNames.IDEMPOTENCY_KEYS, idempotencyKeys));
                }
                for (Document job : known) {
                    job.getList(FieldNames.IDEMPOTENCY_KEYS, String.class)
                            .forEach(key -> byIdempotencyKey.put(key, job));
                }
            }
            List<String> keys = specs.stream()
                    .map(JobSpec::key)
                    .filter(Objects::nonNull)
                    .distinct()
                    .toList();
            if (!keys.isEmpty()) {
                List<String> held = new ArrayList<>(keys);
                specs.stream().filter(Batch::follows).forEach(spec -> held.add(spec.key() + JobSpec.FOLLOWING));
                found(scope.jobs(), FieldNames.HELD_KEY, held)
                        .forEach(job -> byKey.put(job.getString(FieldNames.HELD_KEY), job));
            }
        }

        private static List<Document> found(Docs docs, String field, List<String> keys) {
            return docs.find(new Document(field, FieldNames.in(keys)))
                    .projection(new Document(FieldNames.STATUS, 1)
                            .append(FieldNames.DUE, 1)
                            .append(FieldNames.WAIT_REASON, 1)
                            .append(FieldNames.CREATED, 1)
                            .append(FieldNames.HELD_KEY, 1)
                            .append(FieldNames.ATTEMPTS, 1)
                            .append(FieldNames.LOSSES, 1)
                            .append(FieldNames.INTERRUPTIONS, 1)
                            .append(FieldNames.SNOOZES, 1)
                            .append(FieldNames.IDEMPOTENCY_KEYS, 1))
                    .into(new ArrayList<>());
        }

        boolean isAnswered(JobSpec spec) {
            return spec.idempotencyKey() != null && byIdempotencyKey.containsKey(spec.idempotencyKey());
        }

        Enqueued plan(JobSpec spec) {
            Document known = spec.idempotencyKey() == null ? null : byIdempotencyKey.get(spec.idempotencyKey());
            if (known != null) {
                String proof = spec.idempotencyProof();
                if (proof != null && !byIdempotencyKey.containsKey(proof)) {
                    throw new KeyReusedException(String.valueOf(spec.idempotencyKey()), new JobId(JobDocs.idOf(known)));
                }
                return answer(known, false);
            }
            Document follower = follows(spec) ? byKey.get(spec.key() + JobSpec.FOLLOWING) : null;
            Document first = spec.key() == null ? null : byKey.get(spec.key());
            boolean behind = follows(spec) && first != null && hasBegun(first);
            Document holder = follower != null ? follower : behind ? null : first;
            Document job = holder == null ? JobDocs.fresh(++lastId, spec, now).append(FieldNames.MARK, mark) : holder;
            if (holder == null) {
                if (behind) {
                    holdBack(job, spec);
                }
                fresh.put(lastId, job);
            } else if (spec.keyRule() == KeyRule.KEEP) {
                keep(holder, spec);
            } else if (spec.keyRule() == KeyRule.REJECT
                    || JobDocs.stateOf(holder) == JobState.RUNNING
                    || JobDocs.awaitsBatch(holder)) {
                throw new DuplicateKeyException(Objects.requireNonNull(spec.key()), new JobId(JobDocs.idOf(holder)));
            } else {
                replace(holder, spec);
            }
            remember(spec, job);
            return answer(job, holder == null);
        }

        private static boolean follows(JobSpec spec) {
            return spec.key() != null && spec.keyRule() == KeyRule.FOLLOW;
        }

        private void holdBack(Document job, JobSpec spec) {
            JobDocs.holdBack(job, spec, now);
            job.values().removeIf(Objects::isNull);
        }

        private static boolean isFollower(Document job) {
            String held = FieldNames.text(job, FieldNames.HELD_KEY);
            return held != null && held.endsWith(JobSpec.FOLLOWING);
        }

        /** A job that was claimed is running or has counted that run. One that waits for a batch is not replaced either. */
        private static boolean hasBegun(Document job) {
            return JobDocs.stateOf(job) == JobState.RUNNING
                    || JobDocs.awaitsBatch(job)
                    || FieldNames.integer(job, FieldNames.ATTEMPTS) > 0
                    || FieldNames.integer(job, FieldNames.LOSSES) > 0
                    || FieldNames.integer(job, FieldNames.INTERRUPTIONS) > 0
                    || FieldNames.integer(job, FieldNames.SNOOZES) > 0;
        }

        private void replace(Document holder, JobSpec spec) {
            boolean follower = isFollower(holder);
            JobDocs.begin(holder, spec, now);
            if (follower) {
                holdBack(holder, spec);
            }
            if (fresh.containsKey(JobDocs.idOf(holder))) {
                addKeys(holder, spec);
            } else {
                replacements
                        .computeIfAbsent(JobDocs.idOf(holder), id -> new ArrayList<>())
                        .add(new Replacement(spec, FieldNames.numberOr(holder, FieldNames.CREATED, now), follower));
            }
        }

        /** The holder stays unchanged, except that more idempotency keys lead to it. */
        private void keep(Document holder, JobSpec spec) {
            if (fresh.containsKey(JobDocs.idOf(holder))) {
                addKeys(holder, spec);
            } else if (spec.idempotencyKey() != null) {
                kept.computeIfAbsent(JobDocs.idOf(holder), id -> new ArrayList<>())
                        .add(spec);
            }
        }

        private static void addKeys(Document holder, JobSpec spec) {
            List<String> keys = new ArrayList<>(
                    Objects.requireNonNullElse(holder.getList(FieldNames.IDEMPOTENCY_KEYS, String.class), List.of()));
            keys.addAll(JobDocs.idempotencyKeys(spec));
            if (!keys.isEmpty()) {
                holder.append(FieldNames.IDEMPOTENCY_KEYS, keys);
            }
        }

        private void remember(JobSpec spec, Document job) {
            String held = FieldNames.text(job, FieldNames.HELD_KEY);
            if (spec.key() != null) {
                byKey.put(held == null ? spec.key() : held, job);
            }
            JobDocs.idempotencyKeys(spec).forEach(key -> byIdempotencyKey.put(key, job));
        }

        private static Enqueued answer(Document job, boolean created) {
            long due = FieldNames.numberOr(job, FieldNames.DUE, 0);
            return new Enqueued(new JobId(JobDocs.idOf(job)), created, MongoTime.instant(due));
        }

        void write() {
            try {
                if (fresh.size() == 1) {
                    scope.jobs().insert(fresh.values().iterator().next());
                } else if (!fresh.isEmpty()) {
                    scope.jobs().insert(List.copyOf(fresh.values()));
                }
                replacements.forEach((id, specs) -> specs.forEach(each -> replaceStored(id, each)));
                kept.forEach((id, specs) -> specs.forEach(spec -> keepStored(id, spec)));
            } catch (MongoException e) {
                takeBack();
                if (MongoErrors.isDuplicate(e)) {
                    throw new Overtaken("keys are taken again and again by others", e);
                }
                throw e;
            } catch (Overtaken e) {
                takeBack();
                throw e;
            }
        }

        private void replaceStored(long id, Replacement replacement) {
            JobSpec spec = replacement.spec;
            // A member stays a member after the replacement.
            Document values = JobDocs.beginning(spec, now, replacement.created);
            values.remove(FieldNames.BATCH);
            if (replacement.follower) {
                JobDocs.holdBack(values, spec, now);
            }
            Change change = Change.at(now).setAll(values);
            List<String> keys = JobDocs.idempotencyKeys(spec);
            if (!keys.isEmpty()) {
                change.addToSet(FieldNames.IDEMPOTENCY_KEYS, keys);
            }
            Document waiting = new Document(FieldNames.ID, id)
                    .append(FieldNames.STATUS, FieldNames.PENDING)
                    .append(FieldNames.HELD_KEY, values.get(FieldNames.HELD_KEY));
            if (!scope.jobs().update(waiting, change)) {
                throw new Overtaken("the job to replace moves on again and again", null);
            }
        }

        private void keepStored(long id, JobSpec spec) {
            Document holding = new Document(FieldNames.ID, id).append(FieldNames.HELD_KEY, spec.key());
            Change change = Change.none().addToSet(FieldNames.IDEMPOTENCY_KEYS, JobDocs.idempotencyKeys(spec));
            if (!scope.jobs().update(holding, change)) {
                throw new Overtaken("the job that holds the key moves on again and again", null);
            }
        }

        /** Deletes the inserted jobs, because no transaction rolls them back. */
        private void takeBack() {
            if (!scope.isTransaction() && fresh.size() + replacements.size() + kept.size() > 1) {
                scope.jobs()
                        .deleteAll(JobDocs.byIds(List.copyOf(fresh.keySet())).append(FieldNames.MARK, mark));
            }
        }
    }
}
