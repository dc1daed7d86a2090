// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.retry.Failure;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.Spent;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Writes the outcomes of claims. Each is one update that matches its job only under the live token. A
 * success needs no read. For other outcomes a few fields are read first; {@code cancel_requested}, which
 * may change, is in the filter again.
 */
final class Settlements {

    private static final Document READ = new Document(Fields.TOKEN, 1)
            .append(Fields.RUNNER, 1)
            .append(Fields.ATTEMPTS, 1)
            .append(Fields.LOSSES, 1)
            .append(Fields.DUE, 1)
            .append(Fields.CANCEL_REQUESTED, 1);

    /** Between read and write a job changes only by a cancellation or a take-over, so few rounds are needed. */
    private static final int MOST_ROUNDS = 10;

    private final Mongo mongo;
    private final Sequels sequels;
    private final DeadLetters deadLetters;
    private final int keepAttempts;

    Settlements(Mongo mongo, Sequels sequels, DeadLetters deadLetters, int keepAttempts) {
        this.mongo = mongo;
        this.sequels = sequels;
        this.deadLetters = deadLetters;
        this.keepAttempts = keepAttempts;
    }

    /** Settles a batch. Outcomes with follow-up jobs need a transaction; the others do not. */
    Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        boolean alone =
                settlements.stream().allMatch(settlement -> settlement.sequels().isEmpty());
        Settled settled = alone
                ? mongo.run("settle jobs", scope -> settle(scope, settlements, closing))
                : Inserts.untilNotOvertaken(
                        () -> mongo.atomically("settle jobs", scope -> settle(scope, settlements, closing)));
        deadLetters.move(settlements.stream()
                .filter(settlement -> settlement.next() instanceof Settlement.Fail)
                .map(settlement -> settlement.job().value())
                .toList());
        return settled;
    }

    Settled settle(Scope scope, List<Settlement> settlements, Collection<Long> closing) {
        Batch batch = new Batch(scope, scope.now());
        batch.settle(settlements);
        if (!closing.isEmpty()) {
            close(scope, closing, batch.at);
        }
        sequels.follow(scope, batch.following);
        return new Settled(Micros.instant(batch.at), batch.stale, batch.cancelled);
    }

    /** Gives back all jobs that these tokens hold. */
    static void giveBack(Scope scope, Collection<Long> tokens) {
        close(scope, tokens, scope.now());
    }

    private static void close(Scope scope, Collection<Long> tokens, long at) {
        Document held = new Document(Fields.TOKEN, Fields.in(tokens)).append(Fields.STATUS, Fields.PROCESSING);
        if (scope.jobs().exists(held)) {
            Document unasked = new Document(held).append(Fields.CANCEL_REQUESTED, new Document("$ne", true));
            scope.jobs().updateAll(unasked, Endings.putBack(Change.at(at)));
            scope.jobs().updateAll(held, Endings.end(Change.at(at), Fields.CANCELLED, at));
        }
    }

    private final class Batch {

        private final Scope scope;
        private final long at;
        private final Set<JobId> stale = new HashSet<>();
        private final Set<JobId> cancelled = new HashSet<>();
        private final Map<Long, List<JobSpec>> following = new HashMap<>();

        Batch(Scope scope, long at) {
            this.scope = scope;
            this.at = at;
        }

        void settle(List<Settlement> settlements) {
            List<Settlement> left = List.copyOf(newest(settlements).values());
            for (int round = 1; !left.isEmpty(); round++) {
                if (round > MOST_ROUNDS) {
                    throw new StoreException(
                            "MongoDB could not settle jobs: they change again and again", new IllegalStateException());
                }
                left = write(left);
            }
        }

        private Map<JobId, Settlement> newest(List<Settlement> settlements) {
            Map<JobId, Settlement> newest = new LinkedHashMap<>();
            for (Settlement settlement : settlements) {
                Settlement other = newest.get(settlement.job());
                if (other != null) {
                    stale.add(settlement.job());
                }
                if (other == null || settlement.token() > other.token()) {
                    newest.put(settlement.job(), settlement);
                }
            }
            return newest;
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
                Document held = JobDocs.byIds(List.copyOf(tokens.keySet())).append(Fields.STATUS, Fields.PROCESSING);
                for (Document job : scope.jobs().find(held).projection(READ)) {
                    Long token = Fields.number(job, Fields.TOKEN);
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
                    .find(JobDocs.byIds(ids).append(Fields.MARK, mark))
                    .projection(JobDocs.ID_ONLY)
                    .forEach(job -> marked.add(JobDocs.idOf(job)));
            return marked;
        }

        private void accepted(Settlement settlement, @Nullable Document job) {
            if (isCancelledInstead(settlement, job)) {
                cancelled.add(settlement.job());
            }
            List<JobSpec> specs = sequelsOf(settlement, job);
            if (!specs.isEmpty()) {
                following.put(settlement.job().value(), specs);
            }
        }

        private static List<JobSpec> sequelsOf(Settlement settlement, @Nullable Document job) {
            return isCancelledInstead(settlement, job)
                    ? settlement.sequels().ifCancelled()
                    : settlement.sequels().jobs();
        }

        private static boolean isCancelledInstead(Settlement settlement, @Nullable Document job) {
            return job != null && isCancelled(settlement, job) && !(settlement.next() instanceof Settlement.Cancel);
        }

        private UpdateOneModel<Document> model(Settlement settlement, @Nullable Document job, ObjectId mark) {
            Document filter = JobDocs.byId(settlement.job())
                    .append(Fields.STATUS, Fields.PROCESSING)
                    .append(Fields.TOKEN, settlement.token());
            long startedAt = at - Micros.of(settlement.ran());
            Change change = Change.at(at).set(Fields.MARK, mark).set(Fields.STARTED, startedAt);
            spend(change, settlement.spent());
            if (job == null) {
                change.set(Fields.RESULT, ((Settlement.Succeed) settlement.next()).result());
                Endings.end(change, Fields.DONE, at);
            } else {
                boolean asked = Fields.flag(job, Fields.CANCEL_REQUESTED);
                filter.append(Fields.CANCEL_REQUESTED, asked ? (Object) true : new Document("$ne", true));
                if (settlement.spent() != Spent.NOTHING) {
                    change.push(Fields.HISTORY, AttemptDocs.write(settlement, job, startedAt, at), keepAttempts);
                }
                blame(change, settlement.failure());
                move(change, settlement, job);
            }
            sequels.attach(scope, change, sequelsOf(settlement, job));
            return new UpdateOneModel<>(filter, change.build());
        }

        private static void spend(Change change, Spent spent) {
            switch (spent) {
                case ATTEMPT -> change.add(Fields.ATTEMPTS, 1).set(Fields.LANE, Fields.RETRY);
                case LOSS -> change.add(Fields.LOSSES, 1);
                case INTERRUPTION -> change.add(Fields.INTERRUPTIONS, 1);
                case SNOOZE -> change.add(Fields.SNOOZES, 1);
                case NOTHING -> {}
            }
        }

        private void blame(Change change, @Nullable Failure failure) {
            if (failure != null) {
                change.set(
                        Fields.ERROR,
                        new Document("type", failure.type())
                                .append("message", failure.message())
                                .append("code", failure.code())
                                .append("fingerprint", failure.fingerprint())
                                .append("at", Micros.date(at)));
            }
        }

        private void move(Change change, Settlement settlement, Document job) {
            Settlement.Next next = settlement.next();
            if (isCancelled(settlement, job)) {
                Endings.end(change, Fields.CANCELLED, at);
            } else if (next instanceof Settlement.Fail fail) {
                Endings.fail(change, fail.reason(), at);
            } else if (next instanceof Settlement.Wait pause) {
                Endings.waitUntil(change, Micros.plus(at, pause.delay()), pause.reason());
                if (pause.lastDelay() != null) {
                    change.set(Fields.LAST_DELAY, Micros.of(pause.lastDelay()));
                }
                if (settlement.spent() == Spent.LOSS && Fields.integer(job, Fields.LOSSES) > 0) {
                    change.set(Fields.LANE, Fields.SUSPECT).set(Fields.TOGETHER, pause.together());
                }
            } else if (next instanceof Settlement.Park park) {
                long due = park.delay() == null ? Fields.numberOr(job, Fields.DUE, at) : Micros.plus(at, park.delay());
                Endings.waitUntil(change, due, park.reason());
                if (park.lastDelay() != null) {
                    change.set(Fields.LAST_DELAY, Micros.of(park.lastDelay()));
                }
                change.set(Fields.PARKED, true).set(Fields.PARKED_BY, park.by());
            } else {
                Endings.putBack(change).setAll(JobDocs.due(new Document(), Fields.numberOr(job, Fields.DUE, at)));
            }
        }

        private static boolean isCancelled(Settlement settlement, Document job) {
            return settlement.next() instanceof Settlement.Cancel || Fields.flag(job, Fields.CANCEL_REQUESTED);
        }

        private static boolean isSuccess(Settlement settlement) {
            return settlement.next() instanceof Settlement.Succeed;
        }
    }
}
