// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.insight.WaitingError;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.DueQueues;
import io.reprise.store.Lane;
import io.reprise.store.Turns;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Reads and writes the settings of queues, and counts their jobs. */
final class MongoQueues {

    static final String PAUSED = "paused";
    static final String MAX_RUNNING = "max_running";
    /** Identifies the claim that has the turn in a queue with a limit. */
    static final String TURN = "turn";

    /** Marks a queue whose claims have limits by group. */
    static final String LIMITED = "limited";

    static final String TURN_UNTIL = "turn_until_us";

    private static final int MAX_PRIORITY = 9;

    /** Turns of a level whose first jobs are compared: a group that waits is served within a round. */
    private static final int MAX_TURNS = 100;

    /** Up to this number, documents are all counted in one pass over an index. */
    private static final int FEW = 1_000_000;

    private final Mongo mongo;
    private final long few;
    private final IntUnaryOperator countable;

    MongoQueues(Mongo mongo) {
        this(mongo, FEW, QueueState::countable);
    }

    /**
     * Creates the queues of a store that may be large.
     *
     * @param few number of documents that are all counted
     * @param countable by the number of queues, how many jobs are counted in each state of a queue if there are more
     */
    MongoQueues(Mongo mongo, long few, IntUnaryOperator countable) {
        this.mongo = mongo;
        this.few = few;
        this.countable = countable;
    }

    /** Counts running jobs of a queue, and of the queues of jobs with needs beside it. */
    static int running(MongoScope scope, String queue) {
        Document beside = new Document("$gt", Needs.after(queue)).append("$lt", Needs.before(queue));
        return (int) (scope.jobs().count(running(queue)) + scope.jobs().count(running(beside)));
    }

    static Document running(Object queue) {
        return new Document(FieldNames.QUEUE, queue).append(FieldNames.STATUS, FieldNames.PROCESSING);
    }

    /** The limit of a queue, and how many running jobs it counts. */
    record Room(@Nullable Integer limit, int running) {

        private static final Room ANY = new Room(null, 0);

        int left() {
            return limit == null ? Integer.MAX_VALUE : limit - running;
        }

        Room orLess(Room other) {
            return other.left() < left() ? other : this;
        }
    }

    /**
     * Returns the limit that leaves less room: that of a queue, or of the one that its jobs name.
     *
     * @param queue the settings of the queue
     * @param named the settings of the queue that its jobs name
     */
    static Room room(MongoScope scope, String name, Document queue, Document named) {
        Room own = room(scope, name, queue);
        String base = Needs.base(name);
        return base.equals(name) ? own : own.orLess(room(scope, base, named));
    }

    private static Room room(MongoScope scope, String name, Document queue) {
        Integer limit = maxRunning(queue);
        return limit == null ? Room.ANY : new Room(limit, running(scope, name));
    }

    Set<String> live() {
        return mongo.run(
                "list queues",
                scope -> new HashSet<>(scope.jobs()
                        .distinct(FieldNames.LIVE_QUEUE, new Document(FieldNames.LIVE_QUEUE, atLeast("")))));
    }

    /** Finds queues with due jobs in one round trip: it jumps from name to name and looks for one due job of each. */
    DueQueues due(String after, String before, int looks) {
        return mongo.run("look for queues with due jobs", scope -> {
            Set<String> paused = new HashSet<>(paused(scope));
            List<Document> page = scope.jobs()
                    .aggregate(duePipeline(scope.jobs().name(), after, before, looks + 1, scope.now()))
                    .into(new ArrayList<>());
            boolean more = page.size() > looks;
            List<Document> scanned = more ? page.subList(0, looks) : page;
            List<String> due = scanned.stream()
                    .filter(queue -> !queue.getList("due", Document.class).isEmpty())
                    .map(queue -> Objects.requireNonNull(queue.getString(FieldNames.ID)))
                    .filter(name -> !paused.contains(name) && !paused.contains(Needs.base(name)))
                    .toList();
            return new DueQueues(due, more ? scanned.get(looks - 1).getString(FieldNames.ID) : null);
        });
    }

    private static Document[] duePipeline(String jobs, String after, String before, int most, long now) {
        Document range = new Document("$gt", after).append("$lt", before);
        Document first = new Document("$first", "$" + FieldNames.ID);
        Document ready = MongoClaims.claimable(MongoClaims.ready(null, now), now);
        ready.remove(FieldNames.QUEUE);
        ready.append("$expr", new Document("$eq", List.of("$" + FieldNames.QUEUE, "$$name")));
        Document lookup = new Document("from", jobs)
                .append("let", new Document("name", "$" + FieldNames.ID))
                .append(
                        "pipeline",
                        List.of(
                                new Document("$match", ready),
                                new Document("$limit", 1),
                                new Document("$project", JobDocs.ID_ONLY)))
                .append("as", "due");
        return new Document[] {
            new Document("$match", new Document(FieldNames.LIVE_QUEUE, range)),
            new Document("$sort", new Document(FieldNames.LIVE_QUEUE, 1)),
            new Document("$group", new Document(FieldNames.ID, "$" + FieldNames.LIVE_QUEUE).append("first", first)),
            new Document("$sort", new Document(FieldNames.ID, 1)),
            new Document("$limit", most),
            new Document("$lookup", lookup)
        };
    }

    private static Document atLeast(String text) {
        return new Document("$gte", text);
    }

    int live(String prefix, int most) {
        Document range = new Document("$gte", prefix).append("$lt", prefix + DueQueues.END);
        return mongo.list("count jobs", scope ->
                (int) scope.jobs().count(new Document(FieldNames.LIVE_QUEUE, range), most));
    }

    int depth(String queue, int most) {
        return mongo.list("count jobs", scope ->
                (int) scope.jobs().count(new Document(FieldNames.LIVE_QUEUE, queue), most));
    }

    /** One queue, collected from several answers. */
    private static final class Found {
        private final Map<JobState, Long> counts = new EnumMap<>(JobState.class);
        private final Set<JobState> atLeast = EnumSet.noneOf(JobState.class);
        private Document settings = new Document();
        private @Nullable Instant oldest;
    }

    List<QueueState> all() {
        // Outside the transaction, because the server gives its estimate only there.
        long documents = mongo.run("count jobs", scope -> scope.jobs().estimate());
        return mongo.list("count jobs", scope -> {
            Map<String, Found> queues = new TreeMap<>();
            if (documents <= few) {
                countAll(queues, scope);
            } else {
                countSome(queues, scope);
            }
            scope.docs(MongoScope.QUEUES).list(new Document()).stream()
                    .filter(queue -> queue.containsKey(PAUSED) || queue.containsKey(MAX_RUNNING))
                    .forEach(queue -> at(queues, queue.getString(FieldNames.ID)).settings = queue);
            List<QueueState> states = new ArrayList<>();
            queues.forEach((name, queue) -> states.add(new QueueState(
                    name,
                    pause(queue.settings, queues.getOrDefault(Needs.base(name), queue).settings),
                    limit(queue.settings, queues.getOrDefault(Needs.base(name), queue).settings),
                    queue.counts,
                    queue.atLeast,
                    queue.oldest)));
            return states;
        });
    }

    /** Counts waiting jobs by their reason, among so many of them. */
    Map<WaitReason, Long> waiting(int rows) {
        return mongo.look("count what jobs wait for", scope -> {
            Map<WaitReason, Long> counts = new EnumMap<>(WaitReason.class);
            for (Document group : scope.jobs()
                    .aggregate(
                            new Document(
                                    "$match", new Document(FieldNames.STATUS, FieldNames.status(JobState.PENDING))),
                            new Document("$limit", rows),
                            new Document(
                                    "$group",
                                    new Document(FieldNames.ID, "$" + FieldNames.WAIT_REASON)
                                            .append("jobs", new Document("$sum", 1))))) {
                counts.merge(
                        FieldNames.constant(WaitReason.class, group.get(FieldNames.ID), WaitReason.RETRY),
                        FieldNames.numberOr(group, "jobs", 0),
                        Long::sum);
            }
            return counts;
        });
    }

    /** Counts live jobs of a queue by their group, among so many of them. */
    Map<String, Long> groups(String queue, int rows) {
        return mongo.look("count jobs by group", scope -> {
            Map<String, Long> counts = new HashMap<>();
            for (Document group : scope.jobs()
                    .aggregate(
                            new Document("$match", new Document(FieldNames.LIVE_QUEUE, queue)),
                            new Document("$limit", rows),
                            new Document(
                                    "$group",
                                    new Document(FieldNames.ID, "$" + FieldNames.GROUP)
                                            .append("jobs", new Document("$sum", 1))))) {
                if (group.get(FieldNames.ID) != null) {
                    counts.put(group.getString(FieldNames.ID), FieldNames.numberOr(group, "jobs", 0));
                }
            }
            return counts;
        });
    }

    /** Counts jobs that wait after a failure by their error, among so many of them. */
    List<WaitingError> waitingErrors(@Nullable String queuePrefix, int rows) {
        return mongo.look("count errors of waiting jobs", scope -> {
            Map<String, WaitingError> errors = new HashMap<>();
            long left = rows;
            for (String queue : scope.jobs().distinct(FieldNames.LIVE_QUEUE, new Document())) {
                if (left > 0 && (queuePrefix == null || queue.startsWith(queuePrefix))) {
                    left -= waitingErrors(scope, queue, left, errors);
                }
            }
            return errors.values().stream()
                    .sorted(Comparator.comparingLong(WaitingError::jobs)
                            .reversed()
                            .thenComparing(WaitingError::fingerprint))
                    .toList();
        });
    }

    /** Only the lanes of jobs that ran before, parked or not: the index passes all others by. */
    private static long waitingErrors(MongoScope scope, String queue, long rows, Map<String, WaitingError> errors) {
        Document failed = new Document(FieldNames.STATUS, FieldNames.status(JobState.PENDING))
                .append(FieldNames.QUEUE, queue)
                .append(FieldNames.PARKED, FieldNames.in(List.of(true, false)))
                .append(
                        FieldNames.LANE,
                        FieldNames.in(List.of(FieldNames.lane(Lane.RETRY), FieldNames.lane(Lane.SUSPECT))));
        long jobs = 0;
        for (Document group : scope.jobs()
                .aggregate(
                        new Document("$match", failed),
                        new Document("$limit", (int) rows),
                        new Document(
                                "$group",
                                new Document(FieldNames.ID, "$" + FieldNames.ERROR + ".fingerprint")
                                        .append("type", new Document("$first", "$" + FieldNames.ERROR + ".type"))
                                        .append("message", new Document("$first", "$" + FieldNames.ERROR + ".message"))
                                        .append("jobs", new Document("$sum", 1))
                                        .append("latest", new Document("$max", "$" + FieldNames.ID))))) {
            String fingerprint = FieldNames.text(group, FieldNames.ID);
            if (fingerprint != null) {
                WaitingError known = errors.get(fingerprint);
                long more = FieldNames.numberOr(group, "jobs", 0);
                jobs += more;
                errors.put(
                        fingerprint,
                        new WaitingError(
                                fingerprint,
                                Objects.requireNonNullElse(FieldNames.text(group, "type"), "unknown"),
                                FieldNames.text(group, "message"),
                                more + (known == null ? 0 : known.jobs()),
                                new JobId(FieldNames.numberOr(group, "latest", 1))));
            }
        }
        return jobs;
    }

    private static Found at(Map<String, Found> queues, String name) {
        return queues.computeIfAbsent(name, key -> new Found());
    }

    private static void countAll(Map<String, Found> queues, MongoScope scope) {
        Document all = new Document(FieldNames.QUEUE, atLeast(""));
        countAll(queues, scope.jobs(), all);
        if (scope.hasDead()) {
            countAll(queues, scope.dead(), DeadLetters.countedOnly(scope, all));
        }
        long now = scope.now();
        for (Document group : scope.jobs()
                .aggregate(
                        new Document("$match", MongoClaims.ready(atLeast(""), now)),
                        new Document(
                                "$group",
                                new Document(FieldNames.ID, "$" + FieldNames.QUEUE)
                                        .append("due", new Document("$min", "$" + FieldNames.DUE))))) {
            at(queues, group.getString(FieldNames.ID)).oldest =
                    MongoTime.instant(FieldNames.numberOr(group, "due", now));
        }
    }

    /** Counts entries of the index {@code counts}, which has just these two fields. */
    private static void countAll(Map<String, Found> queues, Docs docs, Document filter) {
        Document key = new Document(FieldNames.QUEUE, "$" + FieldNames.QUEUE)
                .append(FieldNames.STATUS, "$" + FieldNames.STATUS);
        for (Document group : docs.aggregate(
                new Document("$match", filter),
                new Document("$group", new Document(FieldNames.ID, key).append("jobs", new Document("$sum", 1))))) {
            Document id = group.get(FieldNames.ID, Document.class);
            at(queues, id.getString(FieldNames.QUEUE))
                    .counts
                    .merge(JobDocs.stateOf(id), FieldNames.numberOr(group, "jobs", 0), Long::sum);
        }
    }

    /**
     * Counts up to a limit. Moved dead letters are counted in their collection. Without transactions some
     * count twice during a move.
     */
    private void countSome(Map<String, Found> queues, MongoScope scope) {
        int names = scope.jobs()
                .distinct(FieldNames.QUEUE, new Document(FieldNames.QUEUE, atLeast("")))
                .size();
        int most = countable.applyAsInt(names);
        for (JobState state : JobState.values()) {
            count(queues, scope.jobs(), state, most);
        }
        if (scope.hasDead()) {
            count(queues, scope.dead(), JobState.FAILED, most);
        }
        oldest(queues, scope.jobs(), scope.now(), most);
    }

    /** Jumps from name to name, and counts up to {@code most} entries of each in the index {@code counts}. */
    private static void count(Map<String, Found> queues, Docs docs, JobState state, int most) {
        Document jobs = new Document(FieldNames.STATUS, FieldNames.status(state));
        for (Document row : docs.aggregate(eachQueue(
                docs.name(),
                jobs,
                new Document("$limit", most),
                new Document("$group", new Document(FieldNames.ID, null).append("jobs", new Document("$sum", 1)))))) {
            Document found =
                    row.getList("found", Document.class).stream().findFirst().orElse(new Document());
            long counted = FieldNames.numberOr(found, "jobs", 0);
            if (counted > 0) {
                Found queue = at(queues, row.getString(FieldNames.ID));
                queue.counts.merge(state, counted, Long::sum);
                if (counted == most) {
                    queue.atLeast.add(state);
                }
            }
        }
    }

    private static void oldest(Map<String, Found> queues, Docs docs, long now, int most) {
        Document ready = MongoClaims.ready(null, now);
        ready.remove(FieldNames.QUEUE);
        for (Document row : docs.aggregate(eachQueue(
                docs.name(),
                ready,
                new Document("$limit", most),
                new Document(
                        "$group",
                        new Document(FieldNames.ID, null)
                                .append("jobs", new Document("$sum", 1))
                                .append("due", new Document("$min", "$" + FieldNames.DUE)))))) {
            for (Document found : row.getList("found", Document.class)) {
                String name = row.getString(FieldNames.ID);
                boolean all = FieldNames.numberOr(found, "jobs", 0) < most;
                at(queues, name).oldest = all
                        ? MongoTime.instant(FieldNames.numberOr(found, "due", now))
                        : oldestOfAllLevels(docs, name, now);
            }
        }
    }

    /** Reads the first entry of each level, for a queue with more jobs than are counted. */
    private static @Nullable Instant oldestOfAllLevels(Docs docs, String queue, long now) {
        Long oldest = null;
        for (String lane : FieldNames.LANES) {
            for (int priority = -MAX_PRIORITY; priority <= MAX_PRIORITY; priority++) {
                Document level = MongoClaims.ready(queue, now)
                        .append(FieldNames.LANE, lane)
                        .append(FieldNames.PRIORITY, priority);
                Document first = firstOfTurn(docs, level, Turns.NONE);
                for (int turns = 0; first != null && turns < MAX_TURNS; turns++) {
                    long due = FieldNames.numberOr(first, FieldNames.DUE, now);
                    oldest = oldest == null ? due : Math.min(oldest, due);
                    String turn = Objects.requireNonNullElse(FieldNames.text(first, FieldNames.TURN), "");
                    first = firstOfTurn(docs, level, Turns.behind(turn));
                }
            }
        }
        return oldest == null ? null : MongoTime.instant(oldest);
    }

    /** Returns the first job of the first turn from this one on. */
    private static @Nullable Document firstOfTurn(Docs docs, Document level, String from) {
        return docs.find(new Document(level).append(FieldNames.TURN, atLeast(from)))
                .projection(new Document(FieldNames.DUE, 1).append(FieldNames.TURN, 1))
                .sort(new Document(FieldNames.TURN, 1).append(FieldNames.DUE, 1))
                .limit(1)
                .first();
    }

    private static Document[] eachQueue(String collection, Document filter, Document... then) {
        List<Document> pipeline = new ArrayList<>();
        Document same = new Document("$expr", new Document("$eq", List.of("$" + FieldNames.QUEUE, "$$name")));
        same.putAll(filter);
        pipeline.add(new Document("$match", same));
        pipeline.addAll(List.of(then));
        return new Document[] {
            new Document("$match", new Document(FieldNames.QUEUE, atLeast(""))),
            new Document("$sort", new Document(FieldNames.QUEUE, 1)),
            new Document(
                    "$group",
                    new Document(FieldNames.ID, "$" + FieldNames.QUEUE)
                            .append("first", new Document("$first", "$" + FieldNames.STATUS))),
            new Document(
                    "$lookup",
                    new Document("from", collection)
                            .append("let", new Document("name", "$" + FieldNames.ID))
                            .append("pipeline", pipeline)
                            .append("as", "found"))
        };
    }

    /** Returns the pause of a queue, or that of the queue that its jobs name. */
    static QueueState.@Nullable Pause pause(Document queue, Document named) {
        QueueState.Pause own = pause(queue);
        return own == null ? pause(named) : own;
    }

    private static QueueState.@Nullable Pause pause(Document queue) {
        if (!(queue.get(PAUSED) instanceof Document pause)) {
            return null;
        }
        return new QueueState.Pause(
                MongoTime.instant(FieldNames.numberOr(pause, "since_us", 0)), MongoAudit.note(pause));
    }

    /** Returns these queues, and those that their jobs name. */
    static List<String> withNamed(List<String> queues) {
        return Stream.concat(queues.stream(), queues.stream().map(Needs::base))
                .distinct()
                .toList();
    }

    /** Adds to a filter of jobs that nobody paused their queue, nor the queue that they name. */
    static Document notPaused(Document jobs, List<String> paused) {
        List<Document> beside = paused.stream()
                .map(name -> new Document(
                        FieldNames.QUEUE, new Document("$gt", Needs.after(name)).append("$lt", Needs.before(name))))
                .toList();
        jobs.append(FieldNames.QUEUE, new Document("$nin", paused));
        return beside.isEmpty() ? jobs : jobs.append("$nor", beside);
    }

    private static @Nullable Integer limit(Document queue, Document named) {
        Integer own = maxRunning(queue);
        return own == null ? maxRunning(named) : own;
    }

    static @Nullable Integer maxRunning(Document queue) {
        return queue.get(MAX_RUNNING) instanceof Number number ? number.intValue() : null;
    }

    void pause(String queue, AuditNote note) {
        mongo.atomically("pause a queue", scope -> {
            long now = scope.now();
            ensure(scope, queue);
            Document pause = MongoAudit.note(note).append("since_us", now);
            scope.docs(MongoScope.QUEUES)
                    .update(
                            new Document(FieldNames.ID, queue).append(PAUSED, null),
                            Change.none().set(PAUSED, pause));
            MongoAudit.subject(scope, now, "pause", queue, note, null);
            return true;
        });
    }

    void resume(String queue, AuditNote note) {
        mongo.atomically("resume a queue", scope -> {
            scope.docs(MongoScope.QUEUES)
                    .update(new Document(FieldNames.ID, queue), Change.none().remove(PAUSED));
            MongoAudit.subject(scope, scope.now(), "resume", queue, note, null);
            return true;
        });
    }

    void limit(String queue, @Nullable Integer maxRunning, AuditNote note) {
        mongo.atomically("limit a queue", scope -> {
            ensure(scope, queue);
            scope.docs(MongoScope.QUEUES)
                    .update(new Document(FieldNames.ID, queue), Change.none().set(MAX_RUNNING, maxRunning));
            String detail = maxRunning == null ? "no limit" : "at most " + maxRunning;
            MongoAudit.subject(scope, scope.now(), "limit", queue, note, detail);
            return true;
        });
    }

    private static void ensure(MongoScope scope, String queue) {
        scope.docs(MongoScope.QUEUES)
                .upsert(new Document(FieldNames.ID, queue), Change.none().set("name", queue));
    }

    /** Returns the names of the paused queues. */
    static List<String> paused(MongoScope scope) {
        return scope.docs(MongoScope.QUEUES).list(new Document(PAUSED, new Document("$exists", true))).stream()
                .map(queue -> Objects.requireNonNull(queue.getString(FieldNames.ID)))
                .toList();
    }
}
