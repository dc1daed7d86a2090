// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.HttpCall;
import io.reprise.server.delivery.HttpDelivery;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Problem.FieldError;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.webhook.WebhookDelivery;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.util.RawValue;

/** Turns request bodies into jobs to enqueue. It reports every error of a job with its field. */
public final class JobRequests {

    /** Types that only the server creates, from its own data. A job from a client would be a forgery. */
    private static final Set<String> RESERVED = Set.of(WebhookDelivery.TYPE.name());

    /** A payload with fewer characters fits the limit, however it is encoded and encrypted. */
    private static final int SURELY_STORABLE = JobSpec.MAX_PAYLOAD_BYTES / 8;

    /** Jobs of one request that follow others. Each is stored with its policy, which may be some 4 KB long. */
    static final int MAX_FOLLOWERS = 2_000;

    private static final String THEN = "then";
    private static final List<String> FOLLOWERS = List.of(THEN, "whenDead");

    private final Api api;
    private final PolicyBook policies;

    /** Whether only the server may write payloads of this type. */
    public static boolean isReserved(String type) {
        return RESERVED.contains(type);
    }

    public JobRequests(Api api, PolicyBook policies) {
        this.api = api;
        this.policies = policies;
    }

    /** Reads one job, or all jobs of an array. */
    public List<JobRequest<RawValue>> all(JsonNode body, Tenancy tenancy) {
        return all("", body, tenancy);
    }

    /**
     * Reads one job, or all jobs of an array.
     *
     * @param at JSON pointer of the jobs in the request
     */
    public List<JobRequest<RawValue>> all(String at, JsonNode body, Tenancy tenancy) {
        requireFewFollowers(at, body);
        List<FieldError> errors = new ArrayList<>();
        List<JobRequest<RawValue>> jobs = new ArrayList<>();
        if (body.isArray()) {
            for (int i = 0; i < body.size(); i++) {
                add(jobs, at + "/" + i, body.get(i), tenancy, errors);
            }
        } else {
            add(jobs, at, body, tenancy, errors);
        }
        if (!errors.isEmpty()) {
            throw Problem.invalid(errors);
        }
        return jobs;
    }

    private static void requireFewFollowers(String at, JsonNode body) {
        int followers = body.isArray()
                ? body.valueStream().mapToInt(JobRequests::followers).sum()
                : followers(body);
        if (followers > MAX_FOLLOWERS) {
            throw Problem.invalid(
                    at,
                    "has " + followers + " jobs that follow others; one request may have " + MAX_FOLLOWERS
                            + ": send fewer jobs at once");
        }
    }

    /** Counts the jobs that follow a job, at all levels. */
    private static int followers(JsonNode job) {
        int all = 0;
        for (String when : FOLLOWERS) {
            for (JsonNode follower : job.path(when)) {
                all += 1 + followers(follower);
            }
        }
        return all;
    }

    JobRequest<RawValue> one(String at, JsonNode body, Tenancy tenancy) {
        List<FieldError> errors = new ArrayList<>();
        List<JobRequest<RawValue>> jobs = new ArrayList<>();
        add(jobs, at, body, tenancy, errors);
        if (!errors.isEmpty()) {
            throw Problem.invalid(errors);
        }
        return jobs.get(0);
    }

    /**
     * Reads a change of waiting jobs.
     *
     * @param at JSON pointer of the change in the request
     * @throws Problem naming every error
     */
    public JobChange change(String at, Fields fields, Tenancy tenancy) {
        List<FieldError> errors = new ArrayList<>();
        JobChange[] change = {JobChange.NONE};
        edit(at + "/dueAt", errors, () -> {
            Instant dueAt = fields.time("dueAt");
            change[0] = dueAt == null ? change[0] : change[0].at(dueAt);
        });
        edit(
                at + "/priority",
                errors,
                () -> change[0] =
                        fields.has("priority") ? change[0].withPriority(fields.integer("priority", 0)) : change[0]);
        edit(
                at + "/queue",
                errors,
                () -> change[0] = fields.has("queue")
                        ? change[0].toQueue(tenancy.stored("queue", text(fields, "queue")))
                        : change[0]);
        edit(
                at + "/policy",
                errors,
                () -> change[0] = fields.has("policy")
                        ? change[0].withPolicy(policies.requireWithin(
                                "policy", policies.resolve(at + "/policy", fields.node("policy"), tenancy)))
                        : change[0]);
        if (fields.mentions("payload") && checkSize(at, fields.json("payload"), errors)) {
            edit(at + "/payload", errors, () -> change[0] = change[0].withPayload(fields.json("payload")));
        }
        if (errors.isEmpty() && change[0].isEmpty()) {
            errors.add(new FieldError(at, "must have dueAt, priority, queue, policy or payload"));
        }
        if (!errors.isEmpty()) {
            throw Problem.invalid(errors);
        }
        return change[0];
    }

    private static void edit(String field, List<FieldError> errors, Runnable edit) {
        try {
            edit.run();
        } catch (IllegalArgumentException e) {
            errors.add(new FieldError(field, String.valueOf(e.getMessage())));
        } catch (Problem e) {
            errors.addAll(e.errors());
        }
    }

    /** Refuses a change that would make of a job what the caller could not enqueue. */
    void requireAllowed(Job job, JobChange change, Caller caller, Tenancy tenancy) {
        String queue = change.queue() == null ? job.queue() : change.queue();
        caller.bounds().require(tenancy.shown(queue), job.type());
        requireQueue(change, caller, tenancy);
        requirePayload("", job.type(), change);
        keep(change, caller, 1);
    }

    /**
     * Counts the payloads that a change stores.
     *
     * @param jobs how many jobs get it
     * @throws Problem if the quota of the caller forbids it
     */
    public void keep(JobChange change, Caller caller, long jobs) {
        api.quotas().keep(caller, change.payload(), jobs);
    }

    /** Refuses a queue that the caller could not enqueue to. */
    public void requireQueue(JobChange change, Caller caller, Tenancy tenancy) {
        if (change.queue() != null) {
            caller.bounds().requireQueue(tenancy.shown(change.queue()));
            api.quotas().queue(caller, change.queue());
        }
    }

    /** Refuses a payload that the jobs of a type cannot have. */
    public void requirePayload(String at, String type, JobChange change) {
        String payload = change.payload();
        if (payload == null) {
            return;
        }
        if (isReserved(type)) {
            throw Problem.invalid(at + "/payload", "is the server's own for jobs of this type");
        }
        if (type.equals(HttpDelivery.TYPE.name())) {
            List<FieldError> flaws = api.calls().flaws(payload).stream()
                    .map(flaw -> new FieldError(
                            at + "/payload" + (flaw.member().isEmpty() ? "" : "/" + flaw.member()), flaw.message()))
                    .toList();
            if (!flaws.isEmpty()) {
                throw Problem.invalid(flaws);
            }
        }
    }

    private void add(
            List<JobRequest<RawValue>> jobs, String at, JsonNode body, Tenancy tenancy, List<FieldError> errors) {
        jobs.add(followed(alone(at, body, tenancy, errors), at, body, tenancy, errors));
    }

    /** Adds the jobs that follow. Each is read and checked like the first. */
    private JobRequest<RawValue> followed(
            JobRequest<RawValue> job, String at, JsonNode body, Tenancy tenancy, List<FieldError> errors) {
        JobRequest<RawValue> followed = job;
        for (String when : FOLLOWERS) {
            List<JobRequest<RawValue>> next = new ArrayList<>();
            JsonNode followers = body.path(when);
            for (int i = 0; i < followers.size(); i++) {
                String place = at + "/" + when + "/" + i;
                add(next, place, followers.get(i), tenancy, errors);
                if (!KeyRule.KEEP.name().equals(followers.get(i).path("keyRule").asString(KeyRule.KEEP.name()))) {
                    errors.add(new FieldError(place + "/keyRule", "must be KEEP for a job that follows another"));
                }
            }
            for (JobRequest<RawValue> each : next) {
                followed = when.equals(THEN) ? followed.then(each) : followed.whenDead(each);
            }
        }
        return followed;
    }

    /**
     * Checks jobs of a request under a key, with all that follow them, against the bounds and quotas of the caller. If all
     * are stored already, no quota matters: a caller that lost the answer gets it, though its quota is used up meanwhile.
     *
     * @throws Problem if one forbids them
     */
    void admit(Request request, Tenancy tenancy, List<JsonNode> jobs, @Nullable KeyedRequest keyed) {
        try {
            admit(request, tenancy, jobs);
        } catch (Problem refused) {
            if (!refused.type().equals(ProblemType.QUOTA_EXCEEDED) || keyed == null || !keyed.isStored(api.store())) {
                throw refused;
            }
        }
    }

    /**
     * Checks jobs of a request, with all that follow them, against the bounds and quotas of the caller.
     *
     * @throws Problem if one forbids them
     */
    public void admit(Request request, Tenancy tenancy, List<JsonNode> jobs) {
        Set<String> queues = new HashSet<>();
        long size = 0;
        List<JsonNode> all = new ArrayList<>();
        jobs.forEach(job -> all.addAll(withFollowers(job)));
        for (JsonNode each : all) {
            Fields job = new Fields(each);
            request.caller().bounds().require(job.text("queue", JobSpec.DEFAULT_QUEUE), job.text("type", ""));
            queues.add(tenancy.stored("queue", job.text("queue", JobSpec.DEFAULT_QUEUE)));
            size += job.mentions("payload") ? job.json("payload").getBytes(StandardCharsets.UTF_8).length : 0;
        }
        api.quotas().enqueue(request.caller(), queues, all.size(), size);
    }

    /** Returns a job and all that follow it, as they stand in a request. */
    static List<JsonNode> withFollowers(JsonNode job) {
        List<JsonNode> all = new ArrayList<>();
        all.add(job);
        for (String when : FOLLOWERS) {
            job.path(when).forEach(follower -> all.addAll(withFollowers(follower)));
        }
        return all;
    }

    /**
     * Stores jobs that were read here. How long the text of a chain is and how many jobs it has is known only then.
     *
     * @param at JSON pointer of the jobs in the request
     * @throws Problem if a chain is too long
     */
    public static <T> T chained(String at, Supplier<T> stored) {
        try {
            return stored.get();
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(at, String.valueOf(e.getMessage()));
        }
    }

    private JobRequest<RawValue> alone(String at, JsonNode body, Tenancy tenancy, List<FieldError> errors) {
        Fields fields = new Fields(body);
        String payload = fields.mentions("payload") ? fields.json("payload") : "{}";
        JobRequest<RawValue> job =
                JobType.of(fields.text("type", ""), RawValue.class).job(new RawValue(payload));
        if (isReserved(job.type().name())) {
            errors.add(new FieldError(at + "/type", "is made by the server itself"));
        }
        boolean fits = checkSize(at, payload, errors);
        job = set(job, at + "/queue", errors, to -> {
            String queue = tenancy.stored("queue", fields.text("queue", JobSpec.DEFAULT_QUEUE));
            return to.queue(queue);
        });
        if (fields.has("resource")) {
            job = set(
                    job,
                    at + "/resource",
                    errors,
                    to -> to.resource(tenancy.stored("resource", text(fields, "resource"))));
        }
        if (fields.has("needs")) {
            job = set(
                    job,
                    at + "/needs",
                    errors,
                    to -> to.needs(fields.texts("needs").toArray(String[]::new)));
        }
        if (fields.has("group")) {
            job = set(job, at + "/group", errors, to -> to.group(text(fields, "group")));
        }
        if (fits && job.type().name().equals(HttpDelivery.TYPE.name())) {
            job = call(job, at, payload, !fields.has("resource"), tenancy, errors);
        }
        if (fields.has("priority")) {
            job = set(job, at + "/priority", errors, to -> to.priority(fields.integer("priority", 0)));
        }
        job = due(job, at, fields, errors);
        job = keys(job, at, fields, tenancy, errors);
        if (fields.has("tags")) {
            job = set(
                    job,
                    at + "/tags",
                    errors,
                    to -> to.tags(fields.texts("tags").toArray(String[]::new)));
            if (fields.texts("tags").stream().anyMatch(WebhookDelivery::isTag)) {
                errors.add(new FieldError(at + "/tags", "must not begin with webhook: which deliveries do"));
            }
        }
        if (fields.has("version")) {
            job = set(job, at + "/version", errors, to -> to.version(fields.integer("version", 1)));
        }
        Duration timeout = fields.duration("timeout");
        if (timeout != null) {
            job = set(job, at + "/timeout", errors, to -> to.timeout(timeout));
        }
        return policy(job, at, fields, tenancy, errors);
    }

    private boolean checkSize(String at, String payload, List<FieldError> errors) {
        if (payload.length() < SURELY_STORABLE) {
            return true;
        }
        if (payload.length() > JobSpec.MAX_PAYLOAD_BYTES) {
            errors.add(tooLong(at, payload.length()));
            return false;
        }
        int bytes = api.codec().seal(payload).getBytes(StandardCharsets.UTF_8).length;
        if (bytes > JobSpec.MAX_PAYLOAD_BYTES) {
            errors.add(tooLong(at, bytes));
            return false;
        }
        return true;
    }

    private static FieldError tooLong(String at, int bytes) {
        return new FieldError(
                at + "/payload", "has " + bytes + " bytes as stored; at most " + JobSpec.MAX_PAYLOAD_BYTES + " are");
    }

    /**
     * Checks an HTTP call. A call that can never be made is refused now. Its resource is its host, unless
     * the client names another.
     */
    private JobRequest<RawValue> call(
            JobRequest<RawValue> job,
            String at,
            String payload,
            boolean unnamed,
            Tenancy tenancy,
            List<FieldError> errors) {
        List<HttpCall.Flaw> flaws = api.calls().flaws(payload);
        flaws.forEach(flaw -> errors.add(new FieldError(
                at + "/payload" + (flaw.member().isEmpty() ? "" : "/" + flaw.member()), flaw.message())));
        return flaws.isEmpty() && unnamed
                ? set(
                        job,
                        at + "/payload/url",
                        errors,
                        to -> to.resource(tenancy.stored("resource", api.calls().resource(payload, tenancy.room()))))
                : job;
    }

    private static JobRequest<RawValue> due(
            JobRequest<RawValue> job, String at, Fields fields, List<FieldError> errors) {
        Duration delay = fields.duration("delay");
        Instant dueAt = fields.time("dueAt");
        if (delay != null && dueAt != null) {
            errors.add(new FieldError(at + "/dueAt", "must not be given together with delay"));
            return job;
        }
        if (delay != null) {
            return set(job, at + "/delay", errors, to -> to.after(delay));
        }
        return dueAt == null ? job : set(job, at + "/dueAt", errors, to -> to.at(checked(dueAt)));
    }

    /** Limits the time to two centuries from 1970, so that no sum of times overflows in any store. */
    private static Instant checked(Instant dueAt) {
        Instant last = Instant.EPOCH.plus(JobSpec.MAX_DELAY).plus(JobSpec.MAX_DELAY);
        if (dueAt.isAfter(last)) {
            throw new IllegalArgumentException("must not be after " + last);
        }
        return dueAt.isBefore(Instant.EPOCH) ? Instant.EPOCH : dueAt;
    }

    private static JobRequest<RawValue> keys(
            JobRequest<RawValue> job, String at, Fields fields, Tenancy tenancy, List<FieldError> errors) {
        JobRequest<RawValue> keyed = job;
        Duration atLatest = fields.duration("atLatest");
        KeyRule rule = KeyRule.valueOf(fields.text("keyRule", KeyRule.KEEP.name()));
        if (atLatest != null && rule != KeyRule.REPLACE) {
            errors.add(new FieldError(at + "/atLatest", "needs a key with keyRule REPLACE"));
        }
        if (fields.has("key")) {
            keyed = set(
                    keyed,
                    at + (atLatest == null ? "/key" : "/atLatest"),
                    errors,
                    to -> atLatest == null
                            ? to.key(key(fields, "key", tenancy), rule)
                            : to.debounce(key(fields, "key", tenancy), atLatest));
        } else if (fields.has("keyRule")) {
            errors.add(new FieldError(at + "/keyRule", "needs a key"));
        }
        if (fields.has("idempotencyKey")) {
            keyed = set(
                    keyed,
                    at + "/idempotencyKey",
                    errors,
                    to -> to.idempotencyKey(key(fields, "idempotencyKey", tenancy)));
        }
        return keyed;
    }

    private static String key(Fields fields, String name, Tenancy tenancy) {
        String key = tenancy.storedKey(name, text(fields, name));
        return key == null ? "" : key;
    }

    private JobRequest<RawValue> policy(
            JobRequest<RawValue> job, String at, Fields fields, Tenancy tenancy, List<FieldError> errors) {
        if (fields.has("maxAttempts") && fields.has("maxRetries")) {
            errors.add(new FieldError(at + "/maxRetries", "must not be given together with maxAttempts"));
            return job;
        }
        RetryPolicy given;
        try {
            given = fields.has("policy")
                    ? policies.resolve(at + "/policy", fields.node("policy"), tenancy)
                    : RetryPolicy.unset();
        } catch (Problem e) {
            errors.addAll(e.errors());
            return job;
        }
        return set(job, at + "/policy", errors, to -> {
            if (fields.has("maxAttempts")) {
                return to.retry(given.maxAttempts(fields.integer("maxAttempts", 1)));
            }
            return to.retry(fields.has("maxRetries") ? given.maxRetries(fields.integer("maxRetries", 0)) : given);
        });
    }

    private interface Option {
        JobRequest<RawValue> set(JobRequest<RawValue> job);
    }

    private static JobRequest<RawValue> set(
            JobRequest<RawValue> job, String field, List<FieldError> errors, Option option) {
        try {
            return option.set(job);
        } catch (IllegalArgumentException e) {
            errors.add(new FieldError(field, String.valueOf(e.getMessage())));
        } catch (Problem e) {
            e.errors().forEach(error -> errors.add(new FieldError(field, error.message())));
        }
        return job;
    }

    private static String text(Fields fields, String name) {
        @Nullable String value = fields.text(name);
        return value == null ? "" : value;
    }
}
