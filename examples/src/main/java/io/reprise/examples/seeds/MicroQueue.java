// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import io.reprise.JobHandler;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.failure.FailureDetails;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * For users of the micro-queue on MongoDB: an existing {@code tasks} collection is moved in; then an atomic pop, done,
 * retry or hard failure, a backoff policy per task, tasks taken back from workers that fell silent, an end after more
 * than ten attempts, and {@code tasks_dlq}. There is no sweep to run. The argument is a URI of MongoDB, where the
 * example makes a database and drops it; without it, the example runs on a server in memory.
 */
public final class MicroQueue {

    /** The payload of a task. It is a sub-document, so that it can be queried. */
    record Task(String input, String customer) {}

    private static final JobType<Task> TASK = JobType.of("task", Task.class);

    private static final List<String> FIELDS = List.of(
            "_id",
            "payload",
            "status",
            "created_at",
            "updated_at",
            "attempts",
            "next_retry_at",
            "backoff_policy",
            "error");

    /** The pop takes the oldest task that may run: {@code sort=[("created_at", 1)]}. */
    private static final FleetSettings OLDEST_FIRST =
            FleetSettings.fromJson("{\"queues\":{\"default\":{\"order\":\"creation\"}}}");

    /** {@code backoff_policy} of a task: what it leaves out is as in the policy of the queue. */
    private static final RetryPolicy IMPATIENT =
            RetryPolicy.unset().base(Duration.ofMillis(10)).jitter(Jitter.none());

    /** The jobs and their ends, for the test. */
    record Results(
            Told done,
            Told failed,
            Told retried,
            Told exhausted,
            Told stuck,
            boolean fenced,
            long dead,
            int found,
            List<Told> moved,
            List<String> oldStates,
            Document document,
            List<Document> indexes,
            List<String> order,
            Document letter) {}

    private MicroQueue() {}

    public static void main(String[] args) {
        run(args.length == 0 ? null : args[0]);
    }

    static Results run(@Nullable String uri) {
        if (uri != null) {
            try (MongoClient client = MongoClients.create(uri)) {
                return run(client);
            }
        }
        MongoServer server = new MongoServer(new MemoryBackend());
        try (MongoClient client = MongoClients.create(server.bindAndGetConnectionString())) {
            return run(client);
        } finally {
            server.shutdownNow();
        }
    }

    private static Results run(MongoClient client) {
        MongoDatabase database = client.getDatabase("micro_queue_" + new ObjectId());
        try {
            return run(client, database);
        } finally {
            database.drop();
        }
    }

    private static Results run(MongoClient client, MongoDatabase database) {
        say("Delays with jitter none: %s", Told.raw(RetryPolicy.preset("mongo-none"), 10));
        say("The fourth with full jitter: %s; decorrelated: %s", fourth("mongo"), fourth("mongo-decorrelated"));
        oldTasks(database);
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        JobId stuck;
        try (Reprise sender = Reprise.builder().store(store(client, database)).start()) {
            stuck = sender.enqueue(task("fine").retry(RetryPolicy.preset("mongo")));
        }
        Claim silent = claimAndFallSilent(client, database);
        say("A worker took task %s and was never heard of again", stuck);
        try (Reprise queue = Reprise.builder()
                .store(store(client, database))
                .retry(RetryPolicy.preset("mongo"))
                .lease(Duration.ofMinutes(10)) // the visibility timeout; renewed while a worker lives
                .fleetSettings(OLDEST_FIRST)
                .concurrency(1)
                .handle(TASK, handler(order))
                .start()) {
            Map<String, JobId> moved = new TasksMigration(database.getCollection("tasks"), queue, TASK).run();
            JobId done = queue.enqueue(task("fine"));
            JobId failed = queue.enqueue(task("invalid"));
            JobId retried = queue.enqueue(task("twice").retry(IMPATIENT));
            JobId exhausted = queue.enqueue(task("never").retry(IMPATIENT.cap(Duration.ofMillis(20))));
            List<JobId> all = new ArrayList<>(List.of(done, failed, retried, exhausted, stuck));
            all.addAll(moved.values());
            for (JobId id : all) {
                queue.await(id, Duration.ofMinutes(1));
            }
            say("Tasks that were moved: %s", moved.keySet());
            say("Ran, the oldest first: %s", order);
            var jobs = database.getCollection("tasks_jobs");
            Document ada = jobs.find(new Document("payload.customer", "ada").append("status", "done"))
                    .first();
            Document letter = database.getCollection("tasks_dlq")
                    .find(new Document("payload.input", "invalid"))
                    .first();
            say("A task in the collection: %s", readable(ada));
            say("A hard failure in tasks_dlq: %s", readable(letter));
            say(
                    "No sweep makes retries eligible or fails tasks with more than ten attempts: the pop and the outcome do");
            return new Results(
                    Told.of(queue, done),
                    Told.of(queue, failed),
                    Told.of(queue, retried),
                    Told.of(queue, exhausted),
                    Told.of(queue, stuck),
                    queue.attempts(stuck).stream().anyMatch(run -> run.token() > silent.token()),
                    database.getCollection("tasks_dlq").countDocuments(),
                    queue.find(JobQuery.deadLetters()).items().size(),
                    moved.values().stream().map(id -> Told.of(queue, id)).toList(),
                    database.getCollection("tasks")
                            .find()
                            .map(task -> task.getString("status"))
                            .into(new ArrayList<>()),
                    ada == null ? new Document() : ada,
                    jobs.listIndexes()
                            .map(index -> index.get("key", Document.class))
                            .into(new ArrayList<>()),
                    order,
                    letter == null ? new Document() : letter);
        }
    }

    /** The fields that the old queue had too; the others are for Reprise itself. */
    private static String readable(@Nullable Document task) {
        Document known = new Document();
        for (String field : FIELDS) {
            if (task != null && task.containsKey(field)) {
                known.append(field, task.get(field));
            }
        }
        return known.toJson();
    }

    private static String fourth(String preset) {
        RetryPlan.Step step =
                RetryPlan.of(RetryPolicy.preset(preset), 4).steps().get(3);
        return step.min().toSeconds() + " to " + step.max().toSeconds() + " s";
    }

    private static JobStore store(MongoClient client, MongoDatabase database) {
        return MongoJobStore.builder()
                .collectionPrefix("tasks_")
                .deadLettersIn("tasks_dlq")
                .withReadableIndexes()
                .of(client, database.getName());
    }

    private static JobRequest<Task> task(String input) {
        return TASK.job(new Task(input, "ada"));
    }

    private static JobHandler<Task> handler(List<String> order) {
        return (task, job) -> {
            if (job.attempt() == 1) {
                order.add(task.input());
            }
            switch (task.input()) {
                case "invalid" -> throw JobSignal.fail(new Invalid("payload is not valid"));
                case "twice" -> {
                    if (job.attempt() <= 2) {
                        throw new IOException("recoverable");
                    }
                }
                case "never", "tired" -> throw new IOException("recoverable, in theory");
                default -> job.result("done");
            }
        };
    }

    /** A hard failure with a code: {@code mark_failure(task_id, message, code)}. */
    private static final class Invalid extends RuntimeException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        Invalid(String message) {
            super(message);
        }

        @Override
        public String code() {
            return "INVALID_PAYLOAD";
        }
    }

    /** The collection as the old queue left it: waiting, retried nine times, stuck in a worker, done and failed. */
    private static void oldTasks(MongoDatabase database) {
        Document quick = new Document("base_sec", 0.01).append("jitter", "none");
        Instant now = Instant.now();
        database.getCollection("tasks")
                .insertMany(List.of(
                        old("waiting", "pending", 0, null),
                        old("tired", "pending", 9, now).append("backoff_policy", quick),
                        old("taken", "processing", 1, null),
                        old("over", "done", 1, null),
                        old("dead", "failed", 11, null)));
    }

    private static Document old(String input, String status, int attempts, @Nullable Instant next) {
        return new Document("_id", new ObjectId())
                .append("payload", new Document("input", input).append("customer", "bob"))
                .append("status", status)
                .append("attempts", attempts)
                .append("next_retry_at", next);
    }

    /** The atomic pop, as a worker does it; this one has half a second to report, and does not. */
    private static Claim claimAndFallSilent(MongoClient client, MongoDatabase database) {
        try (JobStore store = store(client, database)) {
            return store.claim(new ClaimRequest(
                            "silent", Duration.ofMillis(500), 1, List.of(new Demand("default", 1)), 0.2, true))
                    .get(0);
        }
    }
}
