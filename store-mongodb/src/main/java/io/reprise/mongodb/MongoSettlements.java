// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.failure.Failure;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.AttemptDocs;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoEndings;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.CountedAs;
import io.reprise.store.Lane;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Writes the outcomes of claims. Each is one update that matches its job only under the live token. A
 * success needs no read. For other outcomes a few fields are read first; {@code cancel_requested}, which
 * may change, is in the filter again.
 */
final class MongoSettlements {

    private static final Document READ = new Document(FieldNames.TOKEN, 1)
            .append(FieldNames.RUNNER, 1)
            .append(FieldNames.ATTEMPTS, 1)
            .append(FieldNames.LOSSES, 1)
            .append(FieldNames.LANE, 1)
            .append(FieldNames.DUE, 1)
            .append(FieldNames.GROUP, 1)
            .append(FieldNames.CANCEL_REQUESTED, 1)
            .append(FieldNames.STEPS + ".name", 1)
            .append(FieldNames.STEPS + ".state", 1)
            .append(FieldNames.STEPS + ".due_us", 1);

    /** Between read and write a job changes only by a cancellation or a take-over, so few rounds are needed. */
    private static final int MOST_ROUNDS = 10;

    private final Mongo mongo;
    private final MongoFollowUps followUps;
    private final DeadLetters deadLetters;
    private final int keepAttempts;

    MongoSettlements(Mongo mongo, MongoFollowUps followUps, DeadLetters deadLetters, int keepAttempts) {
        this.mongo = mongo;
        this.followUps = followUps;
        this.deadLetters = deadLetters;
        this.keepAttempts = keepAttempts;
    }

    /** Settles a batch. Outcomes with follow-up jobs need a transaction; the others do not. */
    Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        boolean alone = settlements.stream()
                .allMatch(settlement -> settlement.followUps().isEmpty());
        Settled settled = alone
                ? mongo.run("settle jobs", scope -> settle(scope, settlements, closing))
                : MongoInserts.untilNotOvertaken(
                        () -> mongo.atomically("settle jobs", scope -> settle(scope, settlements, closing)));
        deadLetters.move(settlements.stream()
                .filter(settlement -> settlement.next() instanceof Settlement.Fail)
                .map(settlement -> settlement.job().value())
                .toList());
        return settled;
    }

    Settled settle(MongoScope scope, List<Settlement> settlements, Collection<Long> closing) {
        Batch batch = new Batch(scope, scope.now());
        batch.settle(settlements);
        if (!closing.isEmpty()) {
            close(scope, closing, batch.at);
        }
        batch.joins.forEach((parent, settlement) -> joined(scope, settlement));
        followUps.follow(scope, batch.following);
        MongoBatches.count(scope, batch.tally);
        return new Settled(MongoTime.instant(batch.at), batch.stale, batch.cancelled);
    }

    /** A parent that waits again is due if its children have ended. A join that begins again forgets earlier children. */
    private static void joined(MongoScope scope, Settlement settlement) {
        List<JobSpec> children = settlement.followUps().jobs();
        Membership first = children.isEmpty() ? null : Membership.in(children.get(0));
        String step = Objects.requireNonNull(settlement.step()).name();
        if (first == null) {
            MongoBatches.wakeIfJoined(scope, settlement.job(), step);
        } else {
            MongoBatches.joined(scope, settlement.job(), step, first.batch());
        }
    }

    private static boolean joins(Settlement settlement) {
        return settlement.step() != null && settlement.step().kind() == StoredStep.Kind.JOIN;
    }

    /** Gives back all jobs that these tokens hold. */
    static void giveBack(MongoScope scope, Collection<Long> tokens) {
        close(scope, tokens, scope.now());
    }

    /** Gives back all jobs that anybody holds. */
    static void giveBackAll(MongoScope scope) {
        close(scope, new Document(FieldNames.STATUS, FieldNames.PROCESSING), scope.now());
    }

    private static void close(MongoScope scope, Collection<Long> tokens, long at) {
        close(
                scope,
                new Document(FieldNames.TOKEN, FieldNames.in(tokens)).append(FieldNames.STATUS, FieldNames.PROCESSING),
                at);
    }

    private static void close(MongoScope scope, Document held, long at) {
        if (scope.jobs().exists(held)) {
            Document unasked = new Document(held).append(FieldNames.CANCEL_REQUESTED, new Document("$ne", true));
            scope.jobs().updateAll(unasked, MongoEndings.putBack(Change.at(at)));
            BatchTally tally = new BatchTally();
            scope.jobs()
                    .find(new Document(held).append(FieldNames.BATCH, new Document("$exists", true)))
                    .projection(new Document(FieldNames.BATCH, 1))
                    .forEach(job ->
                            tally.ended(SpecDocs.member(job), new JobId(JobDocs.idOf(job)), JobState.CANCELLED, null));
            scope.jobs().updateAll(held, MongoEndings.end(Change.at(at), FieldNames.CANCELLED, at));
            MongoBatches.count(scope, tally);
        }
    }

    private final class Batch {

        private final MongoScope scope;
        private final long at;
        private final Set<JobId> stale = new HashSet<>();
        private final Set<JobId> cancelled = new HashSet<>();
        private final Map<Long, List<JobSpec>> following = new HashMap<>();
        private final Map<JobId, Settlement> joins = new HashMap<>();
        private final BatchTally tally = new BatchTally();

        Batch(MongoScope scope, long at) {
            this.scope = scope;
            this.at = at;
        }

        void settle(List<Settlement> settlements) {
            List<Settlement> left = Settlement.newest(settlements, stale);
            for (int round = 1; !left.isEmpty(); round++) {
                if (round > MOST_ROUNDS) {
                    throw new StoreException(
                            "MongoDB could not settle jobs: they change again and again", new IllegalStateException());
                }
                left = write(left);
            }
        }

        /** Does one round. Returns the settlements that need another round. */
        private List<Settlement> write(List<Settlement> settlements) {
            Map<Long, Document> jobs = read(settlements);
            ObjectId mark = new ObjectId();
            List<UpdateOneModel<Document>> models = new ArrayList<>();
            List<Settlement> written = new ArrayList<>();
            for (Settlement settlement : settlements) {
                Document job = jobs.get(settlement.job().value());
                if (job == null && !isSuccess(settlement)) {
                    stale.add(settlement.job());
                } else {
                    models.add(model(settlement, job, mark));
                    written.add(settlement);
                }
            }
            if (written.isEmpty()) {
                return List.of();
            }
            boolean all = scope.jobs().bulk(models).getMatchedCount() == written.size();
            Set<Long> made = all ? Set.of() : marked(written, mark);
            List<Settlement> undecided = new ArrayList<>();
            for (Settlement settlement : written) {
                if (all || made.contains(settlement.job().value())) {
                    accepted(settlement, jobs.get(settlement.job().value()));
                } else if (isSuccess(settlement)) {
                    stale.add(settlement.job());
                } else {
                    undecided.add(settlement);
                }
            }
            return undecided;
        }

        /** Reads the jobs that do not succeed and are still held under the token of their settlement. */
        private Map<Long, Document> read(List<Settlement> settlements) {
            Map<Long, Long> tokens = new HashMap<>();
            for (Settlement settlement : settlements) {
                if (!isSuccess(settlement)) {
                    tokens.put(settlement.job().value(), settlement.token());
                }
            }
            Map<Long, Document> jobs = new HashMap<>();
            if (!tokens.isEmpty()) {
                Document held =
                        JobDocs.byIds(List.copyOf(tokens.keySet())).append(FieldNames.STATUS, FieldNames.PROCESSING);
                for (Document job : scope.jobs().find(held).projection(READ)) {
                    Long token = FieldNames.number(job, FieldNames.TOKEN);
                    if (token != null && token.equals(tokens.get(JobDocs.idOf(job)))) {
                        jobs.put(JobDocs.idOf(job), job);
                    }
                }
            }
            return jobs;
        }

        /**
         * Returns which of the jobs this call changed. If another worker has claimed and settled a job since, the mark
         * is gone and the job counts as stale here, although the store accepted the outcome.
         */
        private Set<Long> marked(List<Settlement> written, ObjectId mark) {
            List<Long> ids =
                    written.stream().map(settlement -> settlement.job().value()).toList();
            Set<Long> marked = new HashSet<>();
            scope.jobs()
                    .find(JobDocs.byIds(ids).append(FieldNames.MARK, mark))
                    .projection(JobDocs.ID_ONLY)
                    .forEach(job -> marked.add(JobDocs.idOf(job)));
            return marked;
        }

        private void accepted(Settlement settlement, @Nullable Document job) {
            boolean instead = isCancelledInstead(settlement, job);
            if (instead) {
                cancelled.add(settlement.job());
            } else if (joins(settlement)) {
                joins.put(settlement.job(), settlement);
            }
            count(settlement, instead);
            List<JobSpec> specs = followUpsOf(settlement, job);
            if (!specs.isEmpty()) {
                following.put(settlement.job().value(), specs);
            }
        }

        private void count(Settlement settlement, boolean cancelledInstead) {
            Membership member = settlement.followUps().member();
            Settlement.Next next = settlement.next();
            if (cancelledInstead || next instanceof Settlement.Cancel) {
                tally.ended(member, settlement.job(), JobState.CANCELLED, null);
            } else if (next instanceof Settlement.Succeed success) {
                tally.ended(member, settlement.job(), JobState.SUCCEEDED, success.result());
            } else if (next instanceof Settlement.Fail) {
                tally.ended(member, settlement.job(), JobState.FAILED, null);
            }
        }

        private static List<JobSpec> followUpsOf(Settlement settlement, @Nullable Document job) {
            return isCancelledInstead(settlement, job)
                    ? settlement.followUps().ifCancelled()
                    : settlement.followUps().jobs();
        }

        private static boolean isCancelledInstead(Settlement settlement, @Nullable Document job) {
            return job != null && effect(settlement, job).cancelledInstead();
        }

        private UpdateOneModel<Document> model(Settlement settlement, @Nullable Document job, ObjectId mark) {
            Document filter = JobDocs.byId(settlement.job())
                    .append(FieldNames.STATUS, FieldNames.PROCESSING)
                    .append(FieldNames.TOKEN, settlement.token());
            long startedAt = at - MongoTime.of(settlement.ran());
            Change change = Change.at(at).set(FieldNames.MARK, mark).set(FieldNames.STARTED, startedAt);
            spend(change, settlement.spent());
            if (job == null) {
                change.set(FieldNames.RESULT, ((Settlement.Succeed) settlement.next()).result());
                change.set(FieldNames.LANE, FieldNames.lane(Lane.RETRY));
                MongoEndings.end(change, FieldNames.DONE, at);
            } else {
                boolean asked = FieldNames.flag(job, FieldNames.CANCEL_REQUESTED);
                filter.append(FieldNames.CANCEL_REQUESTED, asked ? (Object) true : new Document("$ne", true));
                if (settlement.spent() != CountedAs.NOTHING) {
                    change.push(FieldNames.HISTORY, AttemptDocs.write(settlement, job, startedAt, at), keepAttempts);
                }
                blame(change, settlement.failure());
                if (settlement.tags() != null) {
                    change.set(SpecDocs.TAGS, List.copyOf(settlement.tags()));
                }
                move(change, settlement, job);
                if (!asked && settlement.step() != null) {
                    step(filter, change, settlement, settlement.step(), job);
                }
            }
            List<JobSpec> following = followUpsOf(settlement, job);
            if (joins(settlement) && job != null && !following.isEmpty() && !isCancelledInstead(settlement, job)) {
                MongoBatches.join(
                        scope,
                        settlement.job(),
                        Objects.requireNonNull(settlement.step()).name(),
                        following);
            }
            followUps.attach(scope, change, following);
            return new UpdateOneModel<>(filter, change.build());
        }

        /**
         * Writes the step of the settlement, unless an event of its name was told before. The filter has what was read: if
         * somebody tells the event meanwhile, nothing matches and the next round sees it.
         */
        private void step(Document filter, Change change, Settlement settlement, StepWrite step, Document job) {
            StoredStep.State there = MongoSteps.state(job, step.name());
            if (there == StoredStep.State.DONE || there == StoredStep.State.FAILED) {
                if (settlement.next() instanceof Settlement.Wait wait && wait.reason() == WaitReason.EVENT) {
                    change.setAll(JobDocs.due(new Document(), at));
                }
                if (step.granted() != null) {
                    change.raise(FieldNames.GRANTED, step.granted());
                }
                return;
            }
            StepWrite row = there == null ? step.fresh() : step.replacing();
            Long due = MongoSteps.due(job, step.name());
            MongoSteps.put(filter, change, row, new MongoSteps.Row(settlement.token(), at, due));
        }

        private static void spend(Change change, CountedAs spent) {
            switch (spent) {
                case ATTEMPT -> change.add(FieldNames.ATTEMPTS, 1);
                case LOSS -> change.add(FieldNames.LOSSES, 1);
                case INTERRUPTION -> change.add(FieldNames.INTERRUPTIONS, 1);
                case SNOOZE -> change.add(FieldNames.SNOOZES, 1);
                case NOTHING -> {}
            }
        }

        private void blame(Change change, @Nullable Failure failure) {
            if (failure != null) {
                change.set(
                        FieldNames.ERROR,
                        new Document("type", failure.type())
                                .append("message", failure.message())
                                .append("code", failure.code())
                                .append("fingerprint", failure.fingerprint())
                                .append("at", MongoTime.date(at)));
            }
        }

        private void move(Change change, Settlement settlement, Document job) {
            Settlement.Next next = settlement.next();
            Settlement.Effect effect = effect(settlement, job);
            change.set(FieldNames.LANE, FieldNames.lane(effect.lane()));
            String group = effect.lane() == Lane.SUSPECT ? null : FieldNames.text(job, FieldNames.GROUP);
            if (effect.state() == JobState.CANCELLED) {
                MongoEndings.end(change, FieldNames.CANCELLED, at);
            } else if (next instanceof Settlement.Fail fail) {
                MongoEndings.fail(change, fail.reason(), at);
            } else if (next instanceof Settlement.Wait pause) {
                MongoEndings.waitUntil(change, MongoTime.plus(at, pause.delay()), pause.reason(), group);
                if (pause.lastDelay() != null) {
                    change.set(FieldNames.LAST_DELAY, MongoTime.of(pause.lastDelay()));
                }
                if (effect.lane() == Lane.SUSPECT) {
                    change.set(FieldNames.TOGETHER, pause.together());
                }
            } else if (next instanceof Settlement.Park park) {
                long due = park.delay() == null
                        ? FieldNames.numberOr(job, FieldNames.DUE, at)
                        : MongoTime.plus(at, park.delay());
                MongoEndings.waitUntil(change, due, park.reason(), group);
                if (park.lastDelay() != null) {
                    change.set(FieldNames.LAST_DELAY, MongoTime.of(park.lastDelay()));
                }
                change.set(FieldNames.PARKED, true).set(FieldNames.PARKED_BY, park.by());
            } else {
                MongoEndings.putBack(change)
                        .setAll(JobDocs.due(new Document(), FieldNames.numberOr(job, FieldNames.DUE, at)));
            }
        }

        /** The counters are increased in the document. Here only losses matter. */
        private static Settlement.Effect effect(Settlement settlement, Document job) {
            JobCounts counts = new JobCounts(0, FieldNames.integer(job, FieldNames.LOSSES), 0, 0, 0);
            return settlement.on(counts, FieldNames.laneOf(job), FieldNames.flag(job, FieldNames.CANCEL_REQUESTED));
        }

        private static boolean isSuccess(Settlement settlement) {
            return settlement.next() instanceof Settlement.Succeed;
        }
    }
}
