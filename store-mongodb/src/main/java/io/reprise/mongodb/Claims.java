// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

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
final class Claims {

    private static final int MOST_LOOKS = 5;

    private static final Document WITH_GROUP = new Document(Fields.ID, 1).append(Fields.TOGETHER, 1);

    /** How long a claim that never returns keeps other claims from a queue with a limit. */
    private static final Duration TURN = Duration.ofSeconds(10);

    private final Mongo mongo;
    private final JobDocs jobDocs;
    /** Queues whose fractions are kept. Beyond this number all begin again, because names may change without end. */
    private static final int MOST_CREDITS = 10_000;

    /** By queue, the fraction of a retry that earlier claims were too small to take. */
    private final Map<String, Double> retryCredits = new ConcurrentHashMap<>();

    Claims(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    List<Claim> claim(ClaimRequest request) {
        return mongo.run("claim jobs", scope -> new Turn(scope, request).claim());
    }

    /** Returns the filter for due jobs of a queue that are not parked. */
    static Document ready(@Nullable Object queue, long now) {
        return new Document(Fields.STATUS, Fields.PENDING)
                .append(Fields.QUEUE, queue)
                .append(Fields.PARKED, false)
                .append(Fields.DUE, Fields.upTo(now));
    }

    /** Adds to the filter that the deadline has not passed. */
    static Document claimable(Document ready, long now) {
        return ready.append(Fields.DEADLINE, new Document("$not", Fields.upTo(now)));
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

        private final Scope scope;
        private final ClaimRequest request;
        private final long now;
        private final List<Claim> claims = new ArrayList<>();
        private int left;
        /** The change of the retry credit by the last batch. It is undone if the batch could not be leased. */
        private double unused;

        private Suspects suspects;

        Turn(Scope scope, ClaimRequest request) {
            this.scope = scope;
            this.request = request;
            this.now = scope.now();
            this.left = request.max();
            this.suspects = request.suspects();
        }

        List<Claim> claim() {
            List<String> names =
                    request.demands().stream().map(ClaimRequest.Demand::queue).toList();
            if (!scope.jobs().exists(typed(ready(Fields.in(names), now)))) {
                return List.of();
            }
            Map<String, Document> settings = new HashMap<>();
            scope.docs(Scope.QUEUES)
                    .find(new Document(Fields.ID, Fields.in(names)))
                    .forEach(queue -> settings.put(queue.getString(Fields.ID), queue));
            for (ClaimRequest.Demand demand : request.demands()) {
                Document queue = settings.getOrDefault(demand.queue(), new Document());
                int room = Math.min(left, demand.max());
                if (room > 0 && !queue.containsKey(Queues.PAUSED)) {
                    if (queue.containsKey(Queues.MAX_RUNNING)) {
                        takeInTurn(demand.queue(), room, Fields.integer(queue, Queues.MAX_RUNNING));
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
            Document free =
                    new Document(Fields.ID, queue).append(Queues.TURN_UNTIL, new Document("$not", Fields.after(now)));
            Change taken = Change.none().set(Queues.TURN, turn).set(Queues.TURN_UNTIL, Micros.plus(now, TURN));
            if (!scope.docs(Scope.QUEUES).update(free, taken)) {
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
                scope.docs(Scope.QUEUES)
                        .update(
                                new Document(Fields.ID, queue).append(Queues.TURN, turn),
                                Change.none().remove(Queues.TURN, Queues.TURN_UNTIL));
            }
        }

        private long running(String queue) {
            return scope.jobs().count(Queues.running(queue));
        }

        private void giveBackTooMany(int first, long tooMany) {
            if (tooMany > 0) {
                List<Long> tokens = claims.subList(first, claims.size()).stream()
                        .map(Claim::token)
                        .toList();
                Settlements.giveBack(scope, tokens);
                claims.subList(first, claims.size()).clear();
            }
        }

        private void take(String queue, int room) {
            int space = room;
            int most = Math.min(space, suspects.max());
            if (most > 0) {
                Claim group = leaseSuspects(due(queue, Fields.SUSPECT, most));
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
            return (int) Fields.numberOr(suspect, Fields.TOGETHER, 1);
        }

        private void add(Claim claim) {
            claims.add(claim);
            left -= claim.jobs().size();
        }

        private List<Document> pick(String queue, int room) {
            List<Document> fresh = due(queue, Fields.FRESH, room);
            List<Document> retries = due(queue, Fields.RETRY, room);
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
                    .find(claimable(typed(ready(queue, now).append(Fields.LANE, lane))))
                    .sort(JobDocs.CLAIM_ORDER)
                    .limit(most)
                    .projection(lane.equals(Fields.SUSPECT) ? WITH_GROUP : JobDocs.ID_ONLY)
                    .into(new ArrayList<>());
        }

        private Document typed(Document ready) {
            if (request.types().isEmpty()) {
                return ready;
            }
            String test = request.others() ? "$nin" : "$in";
            return ready.append(Fields.TYPE, new Document(test, List.copyOf(request.types())));
        }

        private Document claimable(Document ready) {
            return Claims.claimable(ready, now);
        }

        private @Nullable Claim lease(List<Document> batch, int together) {
            List<Long> ids = batch.stream().map(JobDocs::idOf).toList();
            long token = scope.next("token", 1);
            Change change = Change.at(now)
                    .set(Fields.STATUS, Fields.PROCESSING)
                    .set(Fields.TOKEN, token)
                    .set(Fields.WORKER, request.worker())
                    .set(Fields.RUNNER, request.worker())
                    .set(Fields.CLAIMED, now)
                    .set(Fields.STARTED, now)
                    .set(Fields.UNTIL, Micros.plus(now, request.lease()))
                    .set(Fields.ALONE, together == 1)
                    .set(Fields.NEXT_RETRY_AT, null);
            if (request.remote()) {
                change.set(Fields.UNHEARD, ids.size());
            }
            Document stillReady = claimable(JobDocs.byIds(ids)
                    .append(Fields.STATUS, Fields.PENDING)
                    .append(Fields.PARKED, false)
                    .append(Fields.DUE, Fields.upTo(now)));
            if (scope.jobs().updateAll(stillReady, change) == 0) {
                return null;
            }
            List<Document> won = scope.jobs()
                    .find(JobDocs.byIds(ids)
                            .append(Fields.STATUS, Fields.PROCESSING)
                            .append(Fields.TOKEN, token))
                    .projection(JobDocs.WITHOUT_HISTORY)
                    .into(new ArrayList<>());
            if (request.remote() && won.size() < ids.size()) {
                scope.jobs()
                        .updateAll(
                                new Document(Fields.TOKEN, token), Change.none().set(Fields.UNHEARD, won.size()));
            }
            return won.isEmpty() ? null : jobDocs.claim(token, won).ofSuspects(together);
        }
    }
}
