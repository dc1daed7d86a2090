// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.failure.FailureClass;
import io.reprise.job.Attempt;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.server.http.Schema;
import java.util.List;

/** Schemas of requests and answers that several operations share. */
public final class Schemas {

    public static final int MAX_BATCH = 1_000;
    private static final int NO_LIMIT = Integer.MAX_VALUE;

    static final Schema POLICY = Schema.object()
            .open()
            .named("RetryPolicy")
            .about("Fields of a retry policy as in docs/retries.md; what is left out is as in the layers below");

    public static final Schema POLICY_OR_NAME = Schema.any()
            .named("RetryPolicyOrName")
            .about("A retry policy, or the name of a preset or of a stored policy");

    public static final Schema ERROR = Schema.object()
            .must("type", Schema.text(0, 500))
            .must("message", Schema.text(0, 2000).orNull())
            .must("fingerprint", Schema.text(0, 100))
            .orNull()
            .named("LastError");

    public static final Schema PROGRESS = Schema.object()
            .must("percent", Schema.integer(0, 100))
            .must("message", Schema.text(0, 500).orNull())
            .orNull()
            .named("Progress");

    public static final Schema FAILURE = Schema.object()
            .must("type", Schema.text(0, 500))
            .must("code", Schema.text(0, 200).orNull())
            .must("httpStatus", Schema.integer(0, NO_LIMIT).orNull())
            .must("message", Schema.text(0, 2000))
            .must("fingerprint", Schema.text(0, 100))
            .must("retryAfter", Schema.duration().orNull())
            .must("trace", Schema.text(0, 16_000).orNull())
            .orNull()
            .named("Failure");

    static final Schema PREDICTION = Schema.object()
            .must("probability", Schema.number(0, 1).about("share of such retries that succeeded"))
            .must("low", Schema.number(0, 1).about("lower end of the 95 % interval"))
            .must("high", Schema.number(0, 1).about("upper end of it"))
            .must("samples", Schema.number(0, NO_LIMIT).about("retries it rests on; older ones count less"))
            .must("basis", Schema.choice(Prediction.Basis.class).about("what they have in common with this one"))
            .must("text", Schema.text(1, 200))
            .orNull()
            .named("Prediction")
            .about("How often the next attempt succeeded for jobs in the same situation; null if too little is known");

    public static final Schema DECISION = Schema.object()
            .must("kind", Schema.choice(List.of("RETRY", "FAIL", "SNOOZE", "RELEASE")))
            .must("rule", Schema.text(0, 500))
            .must("failureClass", Schema.choice(FailureClass.class).orNull())
            .must("counts", Schema.bool())
            .must("delay", Schema.duration().orNull())
            .must("rawDelay", Schema.duration().orNull().about("of a retry: the delay before its jitter"))
            .must("reason", Schema.choice(FailReason.class).orNull())
            .must("prediction", PREDICTION)
            .orNull()
            .named("Decision");

    static final Schema ATTEMPT = Schema.object()
            .must("number", Schema.integer(0, NO_LIMIT))
            .must("ending", Schema.choice(Attempt.Ending.class))
            .must("worker", Schema.text(0, 200))
            .must("startedAt", Schema.time())
            .must("endedAt", Schema.time())
            .must("failure", FAILURE)
            .must("decision", DECISION)
            .named("Attempt");

    /** A job without what may be long. */
    public static final Schema JOB_SUMMARY = Schema.object()
            .must("id", Schema.id())
            .must("type", Schema.name().about("what kind of work it is"))
            .must("queue", Schema.name().about("where it waits"))
            .must("state", Schema.choice(JobState.class).about("where it is in its life"))
            .must("waitReason", Schema.choice(WaitReason.class).orNull().about("why it waits; null unless PENDING"))
            .must(
                    "failReason",
                    Schema.choice(FailReason.class).orNull().about("why it failed for good; null unless FAILED"))
            .must("attempts", Schema.integer(0, NO_LIMIT).about("counted runs so far"))
            .must("maxAttempts", Schema.integer(1, NO_LIMIT).orNull().about("null if unlimited"))
            .must(
                    "retryCount",
                    Schema.integer(0, NO_LIMIT).about("retries so far, with the one that it waits for or that runs"))
            .must("maxRetries", Schema.integer(0, NO_LIMIT).orNull().about("most retries; null if unlimited"))
            .must(
                    "isRetryable",
                    Schema.bool().about("whether it may have another attempt; if not, a plain manual retry is refused"))
            .must("nextRetryAt", Schema.time().orNull().about("when its retry is due; null unless it waits for one"))
            .must("dueAt", Schema.time().orNull().about("when it may run, or might"))
            .must("createdAt", Schema.time().about("when it was enqueued"))
            .must("startedAt", Schema.time().orNull().about("when its latest run began"))
            .must("finishedAt", Schema.time().orNull().about("when it ended"))
            .must("deadline", Schema.time().orNull().about("no attempt starts then or later"))
            .must("lastError", ERROR)
            .must("prediction", PREDICTION)
            .must("progress", PROGRESS)
            .must("priority", Schema.integer(-9, 9).about("higher first, within its queue"))
            .must("resource", Schema.name().orNull().about("what it calls: its breaker, budget and policy"))
            .must("group", Schema.name().orNull().about("takes turns with other groups of the queue"))
            .must(
                    "needs",
                    Schema.array(Schema.label(), 0, JobSpec.Needs.MAX_LABELS).about("what its worker must offer"))
            .must("tags", Schema.array(Schema.name(), 0, 10).about("words to find it by"))
            .must("version", Schema.integer(1, JobSpec.MAX_VERSION).about("of the payload"))
            .must("key", Schema.text(1, 250).orNull().about("unique among live jobs"))
            .must("schedule", Schema.name().orNull().about("the schedule that fired it"))
            .must("timeout", Schema.duration().orNull().about("longest time of one run"))
            .must("losses", Schema.integer(0, NO_LIMIT).about("runs whose worker was lost"))
            .must("interruptions", Schema.integer(0, NO_LIMIT).about("runs that a shutdown ended"))
            .must("snoozes", Schema.integer(0, NO_LIMIT).about("runs that were put off"))
            .must("granted", Schema.integer(0, NO_LIMIT).about("attempts that people granted"))
            .must("worker", Schema.text(1, 100).orNull().about("who runs it"))
            .must("cancelRequested", Schema.bool().about("whether a person wants its run to end"))
            .named("JobSummary");

    static final Schema LISTED_JOB = JOB_SUMMARY
            .may("result", Schema.json().about("only if asked for"))
            .may("payload", Schema.json().about("only if asked for"))
            .named("ListedJob");

    public static final Schema JOB_WITH_PAYLOAD = JOB_SUMMARY
            .must("result", Schema.json())
            .must("payload", Schema.json())
            .named("JobWithPayload");

    static final Schema JOB = JOB_WITH_PAYLOAD
            .must("policy", POLICY)
            .must("history", Schema.array(ATTEMPT, 0, NO_LIMIT))
            .must(
                    "batch",
                    Schema.text(1, 250)
                            .orNull()
                            .about(
                                    "the batch that it is a member of. A job of a join has a name that begins with #: the term"
                                            + " batch:\"NAME\" of a search takes it, operations of batches do not"))
            .must("follows", Schema.id().orNull().about("the job that this one follows in a chain"))
            .must(
                    "followers",
                    Schema.array(
                                    Schema.object()
                                            .must("when", Schema.choice(List.of("SUCCEEDED", "FAILED")))
                                            .must("type", Schema.name())
                                            .must("queue", Schema.name()),
                                    0,
                                    100)
                            .about("the jobs that follow this one directly"))
            .named("Job");

    static final Schema JOB_PAGE = page(LISTED_JOB, "Jobs");

    /** How deep jobs that follow others may be nested in a request. */
    private static final int CHAIN_LEVELS = 5;

    private static final Schema JOB_ALONE = Schema.object()
            .must("type", Schema.name().about("what kind of work it is"))
            .may("payload", Schema.json().about("any JSON; an empty object unless given"))
            .may("queue", Schema.name().about("'default' unless given"))
            .may(
                    "priority",
                    Schema.integer(JobSpec.MIN_PRIORITY, JobSpec.MAX_PRIORITY)
                            .about("higher first, within its queue; 0 unless given"))
            .may("delay", Schema.duration().about("how long it waits first"))
            .may("dueAt", Schema.time().about("when it may run, in place of delay; now unless given"))
            .may("resource", Schema.name().about("what it calls: its breaker, budget and policy"))
            .may("group", Schema.name().about("takes turns with other groups of the queue"))
            .may(
                    "needs",
                    Schema.array(Schema.label(), 0, JobSpec.Needs.MAX_LABELS)
                            .about("what its worker must offer, such as gpu"))
            .may("tags", Schema.array(Schema.name(), 0, JobSpec.MAX_TAGS).about("words to find it by"))
            .may("version", Schema.integer(1, JobSpec.MAX_VERSION).about("of the payload; 1 unless given"))
            .may("key", Schema.text(1, JobSpec.MAX_KEY).about("at most one live job holds it"))
            .may(
                    "keyRule",
                    Schema.choice(KeyRule.class).about("what happens if a live job holds the key; KEEP unless given"))
            .may(
                    "atLatest",
                    Schema.duration().about("with keyRule REPLACE: due so long after the first request at the latest"))
            .may(
                    "idempotencyKey",
                    Schema.text(1, JobSpec.MAX_KEY).about("a repeated request with it gets the first job; by type"))
            .may("timeout", Schema.duration().about("longest time of one run; none unless given"))
            .may("policy", POLICY_OR_NAME)
            .may("maxAttempts", Schema.integer(1, 1_000_000).about("runs at most, the first included"))
            .may("maxRetries", Schema.integer(0, 999_999).about("runs at most after the first"));

    public static final Schema JOB_REQUEST = followed(CHAIN_LEVELS).named("JobRequest");

    /** A change of waiting jobs. */
    public static final Schema JOB_CHANGE = Schema.object()
            .may("dueAt", Schema.time().about("not in the past, and before the deadline"))
            .may(
                    "priority",
                    Schema.integer(JobSpec.MIN_PRIORITY, JobSpec.MAX_PRIORITY).about("higher first, within its queue"))
            .may("queue", Schema.name().about("where it waits from now on"))
            .may("policy", POLICY_OR_NAME)
            .may("payload", Schema.json().about("any JSON"))
            .may("why", Schema.text(0, 500).about("is written into the audit log"))
            .named("JobChange");

    static final Schema DONE = Schema.object().must("done", Schema.bool()).named("Done");

    public static final Schema WHY =
            Schema.object().may("why", Schema.text(0, 500)).named("Why").about("is written into the audit log");

    public static final Schema FILTER = Schema.object()
            .may("queue", Schema.name())
            .may("type", Schema.name())
            .may("resource", Schema.name())
            .may("tag", Schema.name())
            .may("fingerprint", Schema.text(1, 100).matching("[0-9a-f]+").about("hexadecimal digits"))
            .may("schedule", Schema.name())
            .may("since", Schema.time().about("created then or later"))
            .may("before", Schema.time().about("created before"))
            .named("Filter");

    public static final Schema LIMIT = Schema.integer(1, JobQuery.MAX_LIMIT);
    public static final Schema COUNTS = counts();
    public static final Schema COUNTS_AT_LEAST = Schema.array(
                    Schema.choice(JobState.class), 0, JobState.values().length)
            .about("states with more jobs than were counted: their count means at least so many");
    static final Schema CURSOR = Schema.text(1, 100).matching("[A-Za-z0-9_-]+").about("what a page called next");

    private Schemas() {}

    /** Returns a job that others may follow, down to this level. */
    private static Schema followed(int levels) {
        if (levels == 0) {
            return JOB_ALONE.named("JobRequest" + CHAIN_LEVELS);
        }
        Schema followers = Schema.array(followed(levels - 1), 0, 100);
        return JOB_ALONE
                .may("then", followers.about("jobs that are stored when this one succeeds"))
                .may("whenDead", followers.about("jobs that are stored when this one becomes a dead letter"))
                .named("JobRequest" + (CHAIN_LEVELS - levels));
    }

    private static Schema counts() {
        Schema counts = Schema.object();
        for (JobState state : JobState.values()) {
            counts = counts.must(state.name(), Schema.integer(0, Long.MAX_VALUE));
        }
        return counts.named("JobCounts").about("jobs by state");
    }

    public static Schema page(Schema items, String name) {
        return Schema.object()
                .must("items", Schema.array(items, 0, NO_LIMIT))
                .must(
                        "next",
                        Schema.text(1, 200)
                                .orNull()
                                .about(
                                        "cursor of the next page; null on the last. A page looks at 10,000 rows at most, so"
                                                + " it may be short, or even empty, and not be the last"))
                .named(name);
    }
}
