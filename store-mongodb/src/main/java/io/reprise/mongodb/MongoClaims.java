// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Suspects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Leases due jobs. It reads candidates from the index {@code ready}. One update writes a new token into those that
 * still wait. The jobs with that token are the claim. If other workers took all candidates, it reads again.
 */
final class MongoClaims {

    private static final int MOST_LOOKS = 5;

    private static final Document WITH_GROUP = new Document(FieldNames.ID, 1).append(FieldNames.TOGETHER, 1);

    /** How long a claim that never returns keeps other claims from a queue with a limit. */
    private static final Duration TURN = Duration.ofSeconds(10);

    private final Mongo mongo;
    private final JobDocs jobDocs;
    /** Queues whose fractions are kept. Beyond this number all begin again, because names may change without end. */
    private static final int MOST_CREDITS = 10_000;

    /** By queue, the fraction of a retry that earlier claims were too small to take. */
    private final Map<String, Double> retryCredits = new ConcurrentHashMap<>();

    MongoClaims(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    List<Claim> claim(ClaimRequest request) {
        return mongo.run("claim jobs", scope -> new Turn(scope, request).claim());
    }

    /** Returns the filter for due jobs of a queue that are not parked. */
    static Document ready(@Nullable Object queue, long now) {
        return new Document(FieldNames.STATUS, FieldNames.PENDING)
                .append(FieldNames.QUEUE, queue)
                .append(FieldNames.PARKED, false)
                .append(FieldNames.DUE, FieldNames.upTo(now));
    }

    /** Adds to the filter that the deadline has not passed. */
    static Document claimable(Document ready, long now) {
        return ready.append(FieldNames.DEADLINE, new Document("$not", FieldNames.upTo(now)));
    }

    private int retriesIn(String queue, double earned) {
        if (retryCredits.size() >= MOST_CREDITS) {
            retryCredits.clear();
        }
        int[] whole = new int[1];
        retryCredits.compute(queue, (name, credit) -> {
            double sum = (credit == null ? 0 : credit) + earned;
            whole[0] = (int) Math.max(0, Math.floor(sum + 1e-9));
            return sum - whole[0];
        });
        return whole[0];
    }

    /** One request. */
    private final class Turn {

        private final MongoScope scope;
        private final ClaimRequest request;
        private final long now;
        private final List<Claim> claims = new ArrayList<>();
        private int left;
        /** The change of the retry credit by the last batch. It is undone if the batch could not be leased. */
        private double unused;

        private Suspects suspects;

        Turn(MongoScope scope, ClaimRequest request) {
            this.scope = scope;
            this.request = request;
            this.now = scope.now();
            this.left = request.max();
            this.suspects = request.suspects();
        }

        List<Claim> claim() {
            List<String> names =
                    request.demands().stream().map(ClaimRequest.Demand::queue).toList();
            if (!scope.jobs().exists(typed(ready(FieldNames.in(names), now)))) {
                return List.of();
            }
            Map<String, Document> settings = new HashMap<>();
            scope.docs(MongoScope.QUEUES)
                    .find(new Document(FieldNames.ID, FieldNames.in(names)))
                    .forEach(queue -> settings.put(queue.getString(FieldNames.ID), queue));
            for (ClaimRequest.Demand demand : request.demands()) {
                Document queue = settings.getOrDefault(demand.queue(), new Document());
                int room = Math.min(left, demand.max());
                if (room > 0 && !queue.containsKey(MongoQueues.PAUSED)) {
                    if (queue.containsKey(MongoQueues.MAX_RUNNING)) {
                        takeInTurn(demand.queue(), room, FieldNames.integer(queue, MongoQueues.MAX_RUNNING));
                    } else {
                        take(demand.queue(), room);
                    }
                }
            }
            return claims;
        }

        /**
         * Takes from a queue with a limit. One claim at a time has the turn, so that few jobs are taken and given back.
         * The turn alone is not safe: it ends after {@code TURN}, and a slow claim may be overtaken. So each claim
         * counts the running jobs again after it has taken, and gives its jobs back if there are too many. The last
         * claim to count sees the jobs of all others.
         */
        private void takeInTurn(String queue, int room, int most) {
            ObjectId turn = new ObjectId();
            Document free = new Document(FieldNames.ID, queue)
                    .append(MongoQueues.TURN_UNTIL, new Document("$not", FieldNames.after(now)));
            Change taken =
                    Change.none().set(MongoQueues.TURN, turn).set(MongoQueues.TURN_UNTIL, MongoTime.plus(now, TURN));
            if (!scope.docs(MongoScope.QUEUES).update(free, taken)) {
                return;
            }
            try {
                int first = claims.size();
                int space = (int) Math.min(room, most - running(queue));
                if (space > 0) {
                    take(queue, space);
                    giveBackTooMany(first, running(queue) - most);
                }
            } finally {
                scope.docs(MongoScope.QUEUES)
                        .update(
                                new Document(FieldNames.ID, queue).append(MongoQueues.TURN, turn),
                                Change.none().remove(MongoQueues.TURN, MongoQueues.TURN_UNTIL));
            }
        }

        private long running(String queue) {
            return scope.jobs().count(MongoQueues.running(queue));
        }

        private void giveBackTooMany(int first, long tooMany) {
            if (tooMany > 0) {
                List<Long> tokens = claims.subList(first, claims.size()).stream()
                        .map(Claim::token)
                        .toList();
                MongoSettlements.giveBack(scope, tokens);
                claims.subList(first, claims.size()).clear();
            }
        }

        private void take(String queue, int room) {
            int space = room;
            int most = Math.min(space, suspects.max());
            if (most > 0) {
                Claim group = leaseSuspects(due(queue, FieldNames.SUSPECT, most));
                if (group != null) {
                    suspects = suspects.after(group);
                    add(group);
                    space -= group.jobs().size();
                }
            }
            for (int look = 0; look < MOST_LOOKS && space > 0; look++) {
                List<Document> batch = pick(queue, space);
                Claim claim = batch.isEmpty() ? null : lease(batch, 0);
                if (claim != null) {
                    add(claim);
                } else if (!batch.isEmpty()) {
                    // Other workers took the jobs, so this claim used nothing of the share.
                    retryCredits.merge(queue, unused, Double::sum);
                }
                if (batch.isEmpty() || claim != null) {
                    return;
                }
            }
        }

        private @Nullable Claim leaseSuspects(List<Document> due) {
            int[] together = due.stream().mapToInt(Turn::together).toArray();
            List<Document> group = due.subList(0, suspects.fitting(together));
            int least = group.stream().mapToInt(Turn::together).min().orElse(1);
            return group.isEmpty() ? null : lease(group, least);
        }

        private static int together(Document suspect) {
            return (int) FieldNames.numberOr(suspect, FieldNames.TOGETHER, 1);
        }

        private void add(Claim claim) {
            claims.add(claim);
            left -= claim.jobs().size();
        }

        private List<Document> pick(String queue, int room) {
            List<Document> fresh = due(queue, FieldNames.FRESH, room);
            List<Document> retries = due(queue, FieldNames.RETRY, room);
            double earned = Math.min(room, fresh.size() + retries.size()) * request.retryShare();
            int kept = retriesIn(queue, earned);
            unused = kept - earned;
            int retried = Math.min(retries.size(), Math.max(kept, room - fresh.size()));
            List<Document> batch = new ArrayList<>(retries.subList(0, retried));
            batch.addAll(fresh.subList(0, Math.min(fresh.size(), room - retried)));
            return batch;
        }

        private List<Document> due(String queue, String lane, int most) {
            return scope.jobs()
                    .find(claimable(typed(ready(queue, now).append(FieldNames.LANE, lane))))
                    .sort(JobDocs.CLAIM_ORDER)
                    .limit(most)
                    .projection(lane.equals(FieldNames.SUSPECT) ? WITH_GROUP : JobDocs.ID_ONLY)
                    .into(new ArrayList<>());
        }

        private Document typed(Document ready) {
            if (request.types().isEmpty()) {
                return ready;
            }
            String test = request.others() ? "$nin" : "$in";
            return ready.append(FieldNames.TYPE, new Document(test, List.copyOf(request.types())));
        }

        private Document claimable(Document ready) {
            return MongoClaims.claimable(ready, now);
        }

        private @Nullable Claim lease(List<Document> batch, int together) {
            List<Long> ids = batch.stream().map(JobDocs::idOf).toList();
            long token = scope.next("token", 1);
            Change change = Change.at(now)
                    .set(FieldNames.STATUS, FieldNames.PROCESSING)
                    .set(FieldNames.TOKEN, token)
                    .set(FieldNames.WORKER, request.worker())
                    .set(FieldNames.RUNNER, request.worker())
                    .set(FieldNames.CLAIMED, now)
                    .set(FieldNames.STARTED, now)
                    .set(FieldNames.UNTIL, MongoTime.plus(now, request.lease()))
                    .set(FieldNames.ALONE, together == 1)
                    .set(FieldNames.NEXT_RETRY_AT, null);
            if (request.remote()) {
                change.set(FieldNames.UNHEARD, ids.size());
            }
            Document stillReady = claimable(JobDocs.byIds(ids)
                    .append(FieldNames.STATUS, FieldNames.PENDING)
                    .append(FieldNames.PARKED, false)
                    .append(FieldNames.DUE, FieldNames.upTo(now)));
            if (scope.jobs().updateAll(stillReady, change) == 0) {
                return null;
            }
            List<Document> won = scope.jobs()
                    .find(JobDocs.byIds(ids)
                            .append(FieldNames.STATUS, FieldNames.PROCESSING)
                            .append(FieldNames.TOKEN, token))
                    .projection(JobDocs.WITHOUT_HISTORY)
                    .into(new ArrayList<>());
            if (request.remote() && won.size() < ids.size()) {
                scope.jobs()
                        .updateAll(
                                new Document(FieldNames.TOKEN, token),
                                Change.none().set(FieldNames.UNHEARD, won.size()));
            }
            return won.isEmpty() ? null : jobDocs.claim(token, won).ofSuspects(together);
        }
    }
}
