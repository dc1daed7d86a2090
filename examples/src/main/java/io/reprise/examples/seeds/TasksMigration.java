// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Map;
import org.bson.Document;

/**
 * Moves the waiting tasks of an existing {@code tasks} collection into the queue. It may be repeated after a crash: a
 * task is marked first, then enqueued under its own {@code _id}, then done with. Tasks that are done or failed stay.
 */
final class TasksMigration {

    private static final String STATUS = "status";
    private static final int MOST_ATTEMPTS = 11;

    private final MongoCollection<Document> tasks;
    private final Reprise queue;
    private final JobType<MicroQueue.Task> type;

    TasksMigration(MongoCollection<Document> tasks, Reprise queue, JobType<MicroQueue.Task> type) {
        this.tasks = tasks;
        this.queue = queue;
        this.type = type;
    }

    /** Returns the jobs by the input of their tasks. Stop the old workers first, or they work on the same tasks. */
    Map<String, JobId> run() {
        tasks.updateMany(Filters.in(STATUS, "pending", "processing"), Updates.set(STATUS, "moving"));
        Map<String, JobId> moved = new LinkedHashMap<>();
        for (Document task : tasks.find(Filters.eq(STATUS, "moving"))) {
            MicroQueue.Task payload = payload(task);
            moved.put(payload.input(), queue.enqueue(job(task, payload)));
            tasks.updateOne(Filters.eq("_id", task.get("_id")), Updates.set(STATUS, "moved"));
        }
        return moved;
    }

    private static MicroQueue.Task payload(Document task) {
        Document payload = task.get("payload", new Document());
        return new MicroQueue.Task(payload.getString("input"), payload.getString("customer"));
    }

    private JobRequest<MicroQueue.Task> job(Document task, MicroQueue.Task payload) {
        int attempts = task.get("attempts", Number.class).intValue();
        Date next = task.getDate("next_retry_at");
        return type.job(payload)
                .idempotencyKey(task.getObjectId("_id").toHexString())
                .at(next == null ? Instant.EPOCH : next.toInstant())
                .retry(policy(task.get("backoff_policy", new Document()))
                        .maxAttempts(Math.max(1, MOST_ATTEMPTS - attempts)));
    }

    /** Returns the {@code backoff_policy} of a task. What it leaves out comes from the policy of the queue. */
    private static RetryPolicy policy(Document backoff) {
        RetryPolicy policy = RetryPolicy.unset();
        if (backoff.containsKey("base_sec")) {
            policy = policy.base(seconds(backoff, "base_sec"));
        }
        if (backoff.containsKey("factor")) {
            policy = policy.factor(backoff.get("factor", Number.class).doubleValue());
        }
        if (backoff.containsKey("max_sec")) {
            policy = policy.cap(seconds(backoff, "max_sec"));
        }
        String jitter = backoff.getString("jitter");
        if ("none".equals(jitter)) {
            return policy.jitter(Jitter.none());
        }
        return "decorrelated".equals(jitter)
                ? policy.jitter(
                        RetryPolicy.preset("mongo-decorrelated").jitter().orElseThrow())
                : policy;
    }

    private static Duration seconds(Document backoff, String field) {
        return Duration.ofMillis(
                Math.round(1_000 * backoff.get(field, Number.class).doubleValue()));
    }
}
