// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.GroupRules;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.Claim;
import io.reprise.store.ClaimPlan;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Lane;
import io.reprise.store.RetryShare;
import io.reprise.store.Suspects;
import io.reprise.store.Turns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Leases due jobs. It reads candidates from the index {@code ready}. One update writes a new token into those that
 * still wait. The jobs with that token are the claim. If other workers took all candidates, it reads again.
 */
final class MongoClaims {

    private static final int MOST_LOOKS = 5;

    /** Lanes whose groups take turns. */
    private static final List<String> TURN_LANES = List.of(FieldNames.lane(Lane.FRESH), FieldNames.lane(Lane.RETRY));

    private static final Document ID_AND_KEY = new Document(FieldNames.ID, 1)
            .append(FieldNames.GROUP, 1)
            .append(FieldNames.TYPE, 1)
            .append(FieldNames.DUE, 1);

    private static final Document SUSPECT = new Document(ID_AND_KEY).append(FieldNames.TOGETHER, 1);

    /** How long a claim that never returns keeps other claims from a queue with a limit. */
    private static final Duration TURN = Duration.ofSeconds(10);

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final RetryShare share = new RetryShare();
    private final Turns turns = new Turns();

    MongoClaims(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    List<Claim> claim(ClaimRequest request) {
        return ClaimPlan.withoutFullTypes(
                request,
                demand -> flow(demand.queue(), demand.rules(), null).fullTypes(),
                narrowed -> mongo.run("claim jobs", scope -> new Turn(scope, narrowed).claim()));
    }

    FlowGate flow(String queue, GroupRules rules, @Nullable String group) {
        return mongo.run(
                "look at the limits of queue " + queue,
                scope -> new MongoFlow(scope, queue, rules, scope.now())
                        .gate(group == null ? List.of() : List.of(group)));
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

    /** One request. */
    private final class Turn {

        private final MongoScope scope;
        private final ClaimRequest request;
        private final long now;
        /** The limits by which jobs were admitted last; null if the queue has none. */
        private @Nullable MongoFlow flow;
        /** The document of the queue as long as this claim has the turn. */
        private @Nullable Document mine;

        Turn(MongoScope scope, ClaimRequest request) {
            this.scope = scope;
            this.request = request;
            this.now = scope.now();
        }

        List<Claim> claim() {
            List<String> names =
                    request.demands().stream().map(ClaimRequest.Demand::queue).toList();
            if (!scope.jobs().exists(typed(ready(FieldNames.in(names), now)))) {
                return List.of();
            }
            Map<String, Document> settings = new HashMap<>();
            scope.docs(MongoScope.QUEUES)
                    .find(new Document(FieldNames.ID, FieldNames.in(MongoQueues.withNamed(names))))
                    .forEach(queue -> settings.put(queue.getString(FieldNames.ID), queue));
            return ClaimPlan.overQueues(request, (name, room, suspects) -> {
                Document queue = settings.getOrDefault(name, new Document());
                Document named = settings.getOrDefault(Needs.base(name), queue);
                if (queue.containsKey(MongoQueues.PAUSED) || named.containsKey(MongoQueues.PAUSED)) {
                    return List.of();
                }
                boolean limited = MongoQueues.maxRunning(queue) != null || MongoQueues.maxRunning(named) != null;
                if (!limited && !request.rulesOf(name).isLimited()) {
                    return take(name, room, suspects);
                }
                if (!settings.containsKey(Needs.base(name))) {
                    // Its turn is kept in this document.
                    scope.docs(MongoScope.QUEUES)
                            .upsert(
                                    new Document(FieldNames.ID, Needs.base(name)),
                                    Change.none().setOnInsert(MongoQueues.LIMITED, true));
                }
                return takeInTurn(
                        name,
                        room,
                        () -> MongoQueues.room(scope, name, queue, named).left(),
                        suspects);
            });
        }

        /**
         * Takes from a queue with a limit. One claim at a time has the turn, so that few jobs are taken and given back;
         * queues of jobs with needs have that of the queue that the jobs name, whose limit counts them.
         * The turn alone is not safe: it ends after {@code TURN}, and a slow claim may be overtaken. So each claim
         * counts the running jobs again after it has taken, and gives its jobs back if there are too many. The last
         * claim to count sees the jobs of all others.
         *
         * @param left counts how many more jobs may run
         */
        private List<Claim> takeInTurn(String queue, int room, IntSupplier left, Suspects suspects) {
            // Without the turn: groups and types that may start nothing can be many.
            List<Document> found = pick(queue, room);
            if (found.isEmpty()
                    && (suspects.max() == 0 || due(queue, Lane.SUSPECT, 1).isEmpty())) {
                return List.of();
            }
            ObjectId turn = new ObjectId();
            Document free = new Document(FieldNames.ID, Needs.base(queue))
                    .append(MongoQueues.TURN_UNTIL, new Document("$not", FieldNames.after(now)));
            Change taken =
                    Change.none().set(MongoQueues.TURN, turn).set(MongoQueues.TURN_UNTIL, MongoTime.plus(now, TURN));
            if (!scope.docs(MongoScope.QUEUES).update(free, taken)) {
                return List.of();
            }
            Document held = new Document(FieldNames.ID, Needs.base(queue)).append(MongoQueues.TURN, turn);
            mine = held;
            try {
                int space = Math.min(room, left.getAsInt());
                List<Claim> claims = space > 0 ? take(queue, space, suspects, found) : List.of();
                boolean over = space > 0 && (left.getAsInt() < 0 || isExceeded(queue, claims));
                return over ? givenBack(claims) : claims;
            } finally {
                scope.docs(MongoScope.QUEUES)
                        .update(held, Change.none().remove(MongoQueues.TURN, MongoQueues.TURN_UNTIL));
            }
        }

        private boolean isExceeded(String queue, List<Claim> claims) {
            GroupRules rules = request.rulesOf(queue);
            return rules.isLimited()
                    && new MongoFlow(scope, queue, rules, now)
                            .isExceeded(claims.stream()
                                    .flatMap(claim -> claim.jobs().stream())
                                    .map(job -> new FlowKey(
                                            job.spec().group(),
                                            job.type(),
                                            job.id().value()))
                                    .toList());
        }

        private List<Document> admitted(String queue, List<Document> jobs) {
            GroupRules rules = request.rulesOf(queue);
            flow = rules.isLimited() && !jobs.isEmpty() ? new MongoFlow(scope, queue, rules, now) : null;
            return flow == null ? jobs : flow.admit(jobs);
        }

        private List<Claim> givenBack(List<Claim> claims) {
            MongoSettlements.giveBack(scope, claims.stream().map(Claim::token).toList());
            return List.of();
        }

        private List<Claim> take(String queue, int room, Suspects suspects) {
            return take(queue, room, suspects, null);
        }

        private List<Claim> take(String queue, int room, Suspects suspects, @Nullable List<Document> found) {
            return ClaimPlan.suspectsFirst(
                    room,
                    suspects,
                    most -> leaseSuspects(queue, admitted(queue, due(queue, Lane.SUSPECT, most)), suspects),
                    most -> leaseBatch(queue, most, found));
        }

        /** Looks again if other workers took all jobs that were found. */
        private @Nullable Claim leaseBatch(String queue, int room, @Nullable List<Document> found) {
            for (int look = 0; look < MOST_LOOKS; look++) {
                List<Document> some =
                        found == null || look > 0 ? pick(queue, room) : found.subList(0, Math.min(room, found.size()));
                List<Document> batch = admitted(queue, some);
                Claim claim = batch.isEmpty() ? null : lease(queue, batch, 0);
                if (claim != null) {
                    share.claimed(queue, claim.jobs().size(), request.retryShare());
                }
                if (batch.isEmpty() || claim != null) {
                    return claim;
                }
            }
            return null;
        }

        private @Nullable Claim leaseSuspects(String queue, List<Document> due, Suspects suspects) {
            int[] together = due.stream().mapToInt(Turn::together).toArray();
            List<Document> group = due.subList(0, suspects.fitting(together));
            int least = group.stream().mapToInt(Turn::together).min().orElse(1);
            return group.isEmpty() ? null : lease(queue, group, least);
        }

        private static int together(Document suspect) {
            return (int) FieldNames.numberOr(suspect, FieldNames.TOGETHER, 1);
        }

        private List<Document> pick(String queue, int room) {
            boolean groups = scope.jobs()
                    .exists(ready(queue, now)
                            .append(FieldNames.LANE, FieldNames.in(TURN_LANES))
                            .append(FieldNames.TURN, new Document("$gt", Turns.NONE)));
            turns.seen(queue, groups);
            boolean walks = groups || request.rulesOf(queue).isLimited();
            List<Turns.Pick<Document>> fresh =
                    walks ? inTurns(queue, Lane.FRESH, room) : first(queue, Lane.FRESH, room);
            List<Turns.Pick<Document>> retries =
                    walks ? inTurns(queue, Lane.RETRY, room) : first(queue, Lane.RETRY, room);
            int kept = share.kept(queue, room, request.retryShare());
            int retried = RetryShare.retries(fresh.size(), retries.size(), room, kept);
            List<Turns.Pick<Document>> batch = new ArrayList<>(retries.subList(0, retried));
            batch.addAll(fresh.subList(0, Math.min(fresh.size(), room - retried)));
            batch.forEach(turns::took);
            return batch.stream().map(Turns.Pick::job).toList();
        }

        private List<Turns.Pick<Document>> first(String queue, Lane lane, int most) {
            Turns.Level level = new Turns.Level(queue, lane == Lane.RETRY ? 1 : 0, 0, request.asked());
            return turns.pick(
                    level,
                    List.of(new Turns.Waiting<>(
                            Turns.NONE, due(queue, lane, most).iterator())),
                    most,
                    GroupRules.EQUAL);
        }

        /** Walks the turns of each priority, from the highest on. */
        private List<Turns.Pick<Document>> inTurns(String queue, Lane lane, int most) {
            List<Turns.Pick<Document>> picked = new ArrayList<>();
            Document any = ready(queue, now).append(FieldNames.LANE, FieldNames.lane(lane));
            Integer priority = nextPriority(any, JobSpec.MAX_PRIORITY + 1);
            while (priority != null && picked.size() < most) {
                Document level = new Document(any).append(FieldNames.PRIORITY, priority);
                picked.addAll(turns.choose(
                        new Turns.Level(queue, lane == Lane.RETRY ? 1 : 0, priority, request.asked()),
                        most - picked.size(),
                        request.rulesOf(queue),
                        limited(queue, walk(level))));
                priority = nextPriority(any, priority);
            }
            return picked;
        }

        private @Nullable Integer nextPriority(Document lane, int above) {
            Document next = scope.jobs()
                    .find(new Document(lane).append(FieldNames.PRIORITY, new Document("$lt", above)))
                    .sort(new Document(FieldNames.PRIORITY, -1))
                    .limit(1)
                    .projection(new Document(FieldNames.PRIORITY, 1))
                    .first();
            return next == null ? null : FieldNames.integer(next, FieldNames.PRIORITY);
        }

        private Turns.Walk<Document, RuntimeException> limited(
                String queue, Turns.Walk<Document, RuntimeException> walk) {
            GroupRules rules = request.rulesOf(queue);
            return rules.isLimited() ? Turns.limited(walk, new MongoFlow(scope, queue, rules, now)) : walk;
        }

        /** Jumps from turn to turn through the index {@code ready}. */
        private Turns.Walk<Document, RuntimeException> walk(Document level) {
            return new Turns.Walk<>() {
                @Override
                public List<String> turns(String from, @Nullable String before, int most) {
                    List<String> found = new ArrayList<>();
                    String next = turn(from);
                    while (next != null && found.size() < most && (before == null || next.compareTo(before) < 0)) {
                        found.add(next);
                        next = found.size() < most ? turn(Turns.behind(next)) : null;
                    }
                    return found;
                }

                private @Nullable String turn(String from) {
                    Document first = scope.jobs()
                            .find(typed(new Document(level).append(FieldNames.TURN, new Document("$gte", from))))
                            .sort(new Document(FieldNames.TURN, 1))
                            .limit(1)
                            .projection(new Document(FieldNames.TURN, 1))
                            .first();
                    return first == null ? null : FieldNames.text(first, FieldNames.TURN);
                }

                @Override
                public Map<String, List<Document>> due(Map<String, Integer> most) {
                    Map<String, List<Document>> due = new HashMap<>();
                    most.forEach((turn, max) -> due.put(
                            turn,
                            scope.jobs()
                                    .find(claimable(typed(new Document(level).append(FieldNames.TURN, turn))))
                                    .sort(new Document(FieldNames.DUE, 1).append(FieldNames.ID, 1))
                                    .limit(max)
                                    .projection(ID_AND_KEY)
                                    .into(new ArrayList<>())));
                    return due;
                }

                @Override
                public Map<String, Document> heads(Map<String, Long> ids) {
                    Map<String, Document> due = new HashMap<>();
                    ids.forEach((turn, id) -> {
                        Document head = scope.jobs()
                                .find(claimable(typed(new Document(level)
                                        .append(FieldNames.ID, id)
                                        .append(FieldNames.TURN, turn))))
                                .projection(ID_AND_KEY)
                                .first();
                        if (head != null) {
                            due.put(turn, head);
                        }
                    });
                    return due;
                }
            };
        }

        /** Suspects are few and have no turns. */
        private List<Document> due(String queue, Lane lane, int most) {
            Document ready = ready(queue, now).append(FieldNames.LANE, FieldNames.lane(lane));
            if (lane != Lane.SUSPECT) {
                ready.append(FieldNames.TURN, Turns.NONE);
            }
            return scope.jobs()
                    .find(claimable(typed(ready)))
                    .sort(JobDocs.CLAIM_ORDER)
                    .limit(most)
                    .projection(lane == Lane.SUSPECT ? SUSPECT : JobDocs.ID_ONLY)
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

        /** Jobs of one priority start in the order of their turns. */
        private static Claim inOrder(Claim claim, List<Long> ids) {
            Map<Long, Integer> places = new HashMap<>();
            ids.forEach(id -> places.put(id, places.size()));
            List<Job> jobs = claim.jobs().stream()
                    .sorted(Comparator.comparingInt((Job job) -> -job.spec().priority())
                            .thenComparing(job -> places.getOrDefault(job.id().value(), 0)))
                    .toList();
            return new Claim(
                    claim.token(),
                    claim.queue(),
                    claim.claimedAt(),
                    claim.alone(),
                    jobs,
                    claim.admitted(),
                    claim.damaged(),
                    claim.together());
        }

        /** A claim that was overtaken does not know whether another one has started the jobs that it did not get. */
        private void notStarted(List<Long> won) {
            if (flow != null
                    && flow.notedOthers(won)
                    && mine != null
                    && scope.docs(MongoScope.QUEUES).exists(mine)) {
                flow.forgetOthers(won);
            }
        }

        private @Nullable Claim lease(String queue, List<Document> batch, int together) {
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
            // A person may have moved a job to another queue since the look, or it became a suspect.
            Document stillReady = claimable(JobDocs.byIds(ids)
                    .append(FieldNames.LANE, new Document(together == 0 ? "$ne" : "$eq", FieldNames.lane(Lane.SUSPECT)))
                    .append(FieldNames.QUEUE, queue)
                    .append(FieldNames.STATUS, FieldNames.PENDING)
                    .append(FieldNames.PARKED, false)
                    .append(FieldNames.DUE, FieldNames.upTo(now)));
            boolean any = scope.jobs().updateAll(stillReady, change) > 0;
            List<Document> won = !any
                    ? List.of()
                    : scope.jobs()
                            .find(JobDocs.byIds(ids)
                                    .append(FieldNames.STATUS, FieldNames.PROCESSING)
                                    .append(FieldNames.TOKEN, token))
                            .projection(JobDocs.WITHOUT_HISTORY)
                            .into(new ArrayList<>());
            notStarted(won.stream().map(JobDocs::idOf).toList());
            if (request.remote() && any && won.size() < ids.size()) {
                scope.jobs()
                        .updateAll(
                                new Document(FieldNames.TOKEN, token),
                                Change.none().set(FieldNames.UNHEARD, won.size()));
            }
            if (won.isEmpty()) {
                return null;
            }
            Claim claim = jobDocs.claim(token, won).ofSuspects(together);
            return turns.isGrouped(claim.queue()) && together == 0 ? inOrder(claim, ids) : claim;
        }
    }
}
