// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.RefusedException;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The endpoints that Conduit documents, on jobs. A task of somebody else's key is as one that does not exist. */
final class VideoEndpoints implements Endpoints {

    /** The body of a request. */
    record VideoRequest(String model, String prompt) {}

    static final JobType<VideoRequest> GENERATE = JobType.of("generate-video", VideoRequest.class);
    static final String QUEUE = "videos";

    private static final String SECTION = "Videos";
    private static final String TASKS = "/v1/videos/generations/tasks/{taskId}";
    static final String ID = "task_";

    private static final Schema TASK = Schema.object()
            .must("taskId", Schema.text(1, 50))
            .must("status", Schema.text(1, 50))
            .must("retryCount", Schema.integer(0, 1_000_000))
            .must("maxRetries", Schema.integer(0, 1_000_000).orNull())
            .must("isRetryable", Schema.bool())
            .must("nextRetryAt", Schema.time().orNull())
            .must("error", Schema.text(0, 3_000).orNull())
            .must("result", Schema.any())
            .named("VideoTask");

    private final Reprise reprise;

    VideoEndpoints(Reprise reprise) {
        this.reprise = reprise;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.post("/v1/videos/generations", "generateVideo")
                        .section(SECTION)
                        .summary("Generate a video; the answer says where to ask how it goes")
                        .scope(Scope.ENQUEUE)
                        .body(Schema.object()
                                .must("model", Schema.name())
                                .must("prompt", Schema.text(1, 10_000))
                                .named("VideoRequest"))
                        .answers(202, "the task", TASK)
                        .does(this::generate),
                one(Operation.get(TASKS, "getVideoTask"), Scope.READ, "How a task goes, and when it is retried")
                        .answers(200, "the task", TASK)
                        .does(request -> Response.ok(view(job(request)))),
                one(Operation.post(TASKS + "/retry", "retryVideoTask"), Scope.ENQUEUE, "Retry a failed task at once")
                        .answers(200, "it is pending again", Schema.object().open())
                        .does(this::retry),
                one(Operation.delete(TASKS, "cancelVideoTask"), Scope.ENQUEUE, "Cancel a task")
                        .answers(204, "it is cancelled, or about to be")
                        .does(this::cancel));
    }

    private static Operation.Builder one(Operation.Builder operation, Scope scope, String summary) {
        return operation
                .section(SECTION)
                .scope(scope)
                .summary(summary)
                .path("taskId", Schema.text(1, 50), "of the task");
    }

    private Answer generate(Request request) {
        VideoRequest wanted = new VideoRequest(
                request.fields().text("model", ""), request.fields().text("prompt", ""));
        String queue = Tenancy.of(request.caller()).stored("queue", QUEUE);
        // The model's provider is the resource: its breaker, its policy and its metrics are its own.
        JobId id = reprise.enqueue(GENERATE.job(wanted).queue(queue).resource(wanted.model()));
        return Response.json(202, view(reprise.find(id).orElseThrow()))
                .header("Location", TASKS.replace("{taskId}", ID + id));
    }

    private Answer retry(Request request) {
        Job job = job(request);
        if (job.state() != JobState.FAILED) {
            throw refused("invalid-task-state", "Invalid Task State", "The task is " + status(job) + ", not failed");
        }
        try {
            reprise.as(request.caller().name(), "manual retry").retry(job.id(), ManualRetry.NOW);
        } catch (RefusedException e) {
            throw switch (e.code()) {
                case NOT_RETRYABLE ->
                    refused("task-not-retryable", "Task Not Retryable", "What failed would fail again");
                case MAX_RETRIES_EXCEEDED ->
                    refused(
                            "max-retries-exceeded",
                            "Max Retries Exceeded",
                            "All " + job.maxRetries().orElse(0) + " retries are spent");
                default -> e;
            };
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("taskId", ID + job.id());
        answer.put("status", "pending");
        answer.put("error", "Retry " + job.attempts() + "/" + job.maxRetries().orElse(0) + " scheduled");
        return Response.ok(answer);
    }

    private Answer cancel(Request request) {
        Job job = job(request);
        Cancellation answer = reprise.as(request.caller().name(), null).cancel(job.id());
        if (answer == Cancellation.TOO_LATE) {
            throw Problem.of(ProblemType.CONFLICT, "The task is " + status(job) + " already");
        }
        return Response.noContent();
    }

    private static Problem refused(String type, String title, String detail) {
        return Problem.of(new ProblemType(type, 400, title), detail);
    }

    private Job job(Request request) {
        String id = request.path("taskId");
        Problem none = Problem.notFound("Task " + id);
        if (!id.matches(ID + "[1-9]\\d{0,17}")) {
            throw none;
        }
        Tenancy tenancy = Tenancy.of(request.caller());
        return reprise.find(JobId.parse(id.substring(ID.length())))
                .filter(job -> job.type().equals(GENERATE.name()) && tenancy.owns(job.queue()))
                .orElseThrow(() -> none);
    }

    private static Map<String, @Nullable Object> view(Job job) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("taskId", ID + job.id());
        view.put("status", status(job));
        view.put("retryCount", job.retryCount());
        view.put("maxRetries", job.maxRetries().isPresent() ? job.maxRetries().getAsInt() : null);
        view.put("isRetryable", job.isRetryable());
        view.put("nextRetryAt", job.nextRetryAt());
        view.put("error", error(job));
        String result = job.status().result();
        view.put("result", result == null ? null : Json.parse(result));
        return view;
    }

    /** The content of a webhook about a task, in the words of the endpoints. */
    static Map<String, Object> told(Map<String, Object> job) {
        Map<String, Object> task = new LinkedHashMap<>();
        task.put("taskId", ID + job.get("jobId"));
        String status = String.valueOf(job.get("status"));
        task.put("status", status.equals("succeeded") ? "completed" : status);
        for (String name : List.of("retryCount", "maxRetries", "isRetryable", "nextRetryAt", "error")) {
            Object value = job.get(name);
            if (value != null) {
                task.put(name, value);
            }
        }
        return task;
    }

    private static @Nullable String error(Job job) {
        if (job.status().lastError() == null || job.state() == JobState.SUCCEEDED) {
            return null;
        }
        String message = job.status().lastError().message();
        return job.nextRetryAt() == null
                ? message
                : "Retry " + job.retryCount() + "/" + job.maxRetries().orElse(0) + " scheduled: " + message;
    }

    private static String status(Job job) {
        return switch (job.state()) {
            case PENDING -> "pending";
            case RUNNING -> "processing";
            case SUCCEEDED -> "completed";
            case FAILED -> "failed";
            case CANCELLED -> "cancelled";
        };
    }
}
