// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.Operations;
import io.reprise.Reprise;
import io.reprise.control.BreakerPhase;
import io.reprise.control.ControlKey;
import io.reprise.fairness.FlowGate;
import io.reprise.job.JobId;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.text.Isolation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The reasons why a job is running, waiting or ended. Obtained from {@link Reprise#explain}. Immutable.
 *
 * @param id the job
 * @param at the store's time of this answer
 * @param reasons at least one; the most important reason comes first
 * @param nextAt when the job is due or the next probe is made; null if no such time is set
 * @param prediction how the next attempt may end, from the experience of the fleet; null if the job never failed or too
 *     little is known
 * @since 0.1.0
 */
public record Explanation(
        JobId id,
        Instant at,
        List<Reason> reasons,
        @Nullable Instant nextAt,
        @Nullable Prediction prediction) {

    /** Jobs that are claimed before a job are counted up to this number. */
    public static final int MAX_JOBS = 1_000;

    /** Copies the list. */
    public Explanation {
        reasons = List.copyOf(reasons);
    }

    /** One reason. The nested records of {@link Explanation} are all there are. */
    public sealed interface Reason {

        /**
         * Describes the reason in English words, without the name of the job.
         *
         * @param at the time from which durations such as "5 min ago" are counted
         */
        String text(Instant at);
    }

    /**
     * The job succeeded.
     *
     * @param finishedAt when it ended
     * @param attempts number of counted attempts that it took
     */
    public record Succeeded(Instant finishedAt, int attempts) implements Reason {
        @Override
        public String text(Instant at) {
            return "succeeded " + ago(finishedAt, at) + " at attempt " + attempts;
        }
    }

    /**
     * The job was cancelled.
     *
     * @param finishedAt when it ended
     */
    public record Cancelled(Instant finishedAt) implements Reason {
        @Override
        public String text(Instant at) {
            return "was cancelled " + ago(finishedAt, at);
        }
    }

    /**
     * The job is a dead letter. A person can retry, replay or discard it.
     *
     * @param reason why the job failed for good
     * @param finishedAt when it ended
     * @param attempts number of counted attempts
     * @param rule rule of the last decision; null if no decision is kept
     * @param error class name of the last failure; null if it never failed
     */
    public record Dead(
            FailReason reason,
            Instant finishedAt,
            int attempts,
            @Nullable String rule,
            @Nullable String error) implements Reason {
        @Override
        public String text(Instant at) {
            return "failed for good " + ago(finishedAt, at) + ": " + reason + " after " + counted(attempts, "attempt")
                    + (error == null ? "" : ", last with " + Isolation.of(error)) + by(rule);
        }
    }

    /**
     * The job is running, and its worker renews the lease.
     *
     * @param worker name of the worker
     * @param since when the run started
     * @param leaseUntil when the lease ends unless the worker renews it
     * @param cancelRequested whether a person has cancelled the job; then the worker stops the run
     */
    public record Running(String worker, Instant since, Instant leaseUntil, boolean cancelRequested) implements Reason {
        @Override
        public String text(Instant at) {
            return "has been running on " + Isolation.of(worker) + " for " + length(since, at)
                    + ", with a lease for another " + length(at, leaseUntil)
                    + (cancelRequested ? ", and was asked to stop" : "");
        }
    }

    /**
     * The worker of the job did not renew its lease. The leading worker takes the lease over within about a second.
     *
     * @param worker name of the silent worker
     * @param leaseEndedAt when its lease ended
     */
    public record Silent(String worker, Instant leaseEndedAt) implements Reason {
        @Override
        public String text(Instant at) {
            return "was running on " + Isolation.of(worker) + ", whose lease ended " + ago(leaseEndedAt, at)
                    + "; it comes back as soon as a worker takes the lease over";
        }
    }

    /**
     * The job waits for its due time.
     *
     * @param dueAt when the job may run
     * @param why why it waits
     * @param attempts number of counted attempts so far
     * @param maxAttempts number of attempts that the policy allows; empty if unlimited
     * @param rule rule of the decision to wait; null if no decision is kept
     */
    public record NotDue(
            Instant dueAt,
            WaitReason why,
            int attempts,
            OptionalInt maxAttempts,
            @Nullable String rule) implements Reason {
        @Override
        public String text(Instant at) {
            if (why == WaitReason.BATCH) {
                return "waits until all jobs of a batch have ended (" + why + ")" + by(rule);
            }
            if (why == WaitReason.FOLLOW) {
                return "waits until the job that holds its key has ended (" + why + ")" + by(rule);
            }
            String of = maxAttempts.isPresent() ? " of " + maxAttempts.getAsInt() : "";
            String after = attempts == 0 ? "" : " after attempt " + attempts + of;
            return "is due in " + length(at, dueAt) + after + " (" + why + ")" + by(rule);
        }
    }

    /**
     * A person paused the queue of the job.
     *
     * @param queue name of the queue
     * @param since when the queue was paused
     * @param by the person who paused it
     * @param why the reason that the person gave; null if none was given
     */
    public record QueuePaused(
            String queue,
            Instant since,
            String by,
            @Nullable String why) implements Reason {
        @Override
        public String text(Instant at) {
            return "queue " + queue + " was paused by " + Isolation.of(by) + " " + ago(since, at)
                    + (why == null ? "" : ": " + Isolation.of(why));
        }
    }

    /**
     * The breaker of the job's resource holds the job back.
     *
     * @param resource name of the resource
     * @param phase phase of the breaker; CLOSED if nothing is wrong and a rate that is set holds the job back
     * @param since when the breaker entered the phase
     * @param nextProbe when an open breaker admits the next probe; null in any other phase, or if a person forces the
     *     breaker
     * @param why why the breaker is in this phase, in words; may be empty
     * @param parked number of jobs that the breaker has parked, this one included if it is parked
     * @param ramp how fast the breaker unparks them; null unless it is ramping
     */
    public record HeldByBreaker(
            String resource,
            BreakerPhase phase,
            Instant since,
            @Nullable Instant nextProbe,
            String why,
            long parked,
            ResourceStatus.@Nullable RampStatus ramp)
            implements Reason {
        @Override
        public String text(Instant at) {
            if (phase == BreakerPhase.CLOSED && ramp != null) {
                return "the rate of resource " + resource + " is reached" + letsGo(ramp, at);
            }
            String until = nextProbe == null ? "" : ", next probe in " + length(at, nextProbe);
            String state = phase.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            return "the breaker for " + resource + " has been " + state + " for " + length(since, at) + until
                    + (why.isEmpty() ? "" : ": " + Isolation.of(why))
                    + (ramp == null ? "" : letsGo(ramp, at));
        }

        private String letsGo(ResourceStatus.RampStatus now, Instant at) {
            Double aim = now.aim();
            return "; it lets " + pace(now.rate()) + " go"
                    + (aim == null ? "" : ", and is to reach " + pace(aim))
                    + (now.why().isEmpty() ? "" : " (" + Isolation.of(now.why()) + ")") + "; all " + grouped(parked)
                    + " parked jobs are through in about " + length(at, at.plus(now.through()));
        }
    }

    /**
     * The retry of the job is parked until a budget can pay for it.
     *
     * @param budget the budget: of a resource, a queue, a type, or all jobs
     * @param now the credit that the budget holds, and the number of retries that wait for it
     */
    public record BudgetEmpty(ControlKey budget, ResourceStatus.BudgetStatus now) implements Reason {
        @Override
        public String text(Instant at) {
            String whose = switch (budget.kind()) {
                case RESOURCE_BUDGET -> "the retry budget of resource " + budget.subject();
                case QUEUE_BUDGET -> "the retry budget of queue " + budget.subject();
                case TYPE_BUDGET -> "the retry budget of type " + budget.type();
                default ->
                    "the retry budget of all jobs"
                            + (budget.subject().isEmpty()
                                    ? ""
                                    : " of " + budget.subject().substring(1));
            };
            Duration through = now.through();
            return whose + " holds " + grouped(Math.round(now.level())) + " of "
                    + grouped(Math.round(now.capacity())) + " credits, and successes fill it"
                    + (through == null
                            ? ""
                            : "; all " + grouped(now.waiting()) + " retries that wait for it run in about "
                                    + length(at, at.plus(through)));
        }
    }

    /**
     * The queue runs as many jobs as its limit in the fleet allows. The limit is set by {@link Operations#limit}.
     *
     * @param queue name of the queue
     * @param maxRunning the limit
     * @param running number of its jobs that run now
     */
    public record LimitReached(String queue, int maxRunning, int running) implements Reason {
        @Override
        public String text(Instant at) {
            return "the limit of queue " + queue + " is reached: " + grouped(running) + " of " + grouped(maxRunning)
                    + " jobs are running";
        }
    }

    /**
     * A limit of the queue keeps the job from starting: that of its group, of its type, or the rate of the queue.
     *
     * @param queue name of the queue
     * @param limit the limit, and until when it holds
     * @param from where the limit was set
     */
    public record FlowLimitReached(String queue, FlowGate.Reached limit, QueueLimit.From from) implements Reason {
        @Override
        public String text(Instant at) {
            String whose = switch (limit.of()) {
                case GROUP -> "the limit of group " + limit.name() + " in queue " + queue;
                case TYPE -> "the limit of type " + limit.name() + " in queue " + queue;
                case QUEUE -> "the rate of queue " + queue;
            };
            Instant until = limit.until();
            String set = from == QueueLimit.From.CODE ? " (set in the code)" : " (set in the settings)";
            if (until == null) {
                return whose + " is reached: " + grouped(limit.running()) + " of "
                        + grouped(Objects.requireNonNullElse(limit.limit().running(), 0)) + " jobs are running" + set;
            }
            return whose + " is reached: "
                    + counted(Objects.requireNonNullElse(limit.limit().starts(), 0), "job") + " in "
                    + length(
                            at, at.plus(Objects.requireNonNullElse(limit.limit().per(), Duration.ZERO)))
                    + ", the next in " + length(at, until) + set;
        }
    }

    /**
     * Another job of its group started before and has not ended, and the group keeps its order: see
     * {@link io.reprise.fairness.FlowLimit#inOrder}.
     *
     * @param queue name of the queue
     * @param group name of the group
     * @param head the job that must end first
     */
    public record WaitsForGroup(String queue, String group, JobId head) implements Reason {
        @Override
        public String text(Instant at) {
            return "waits for job " + head + " of its group " + group + ": the group keeps its order";
        }
    }

    /**
     * No live worker serves the queue of the job.
     *
     * @param queue name of the queue
     */
    public record NoWorker(String queue) implements Reason {
        @Override
        public String text(Instant at) {
            return "no live worker serves queue " + queue;
        }
    }

    /**
     * Live workers serve the queue that the job names, but none of them offers all that it needs.
     *
     * @param queue name of the queue
     * @param needs the labels that the job needs
     */
    public record NoOffer(String queue, List<String> needs) implements Reason {

        /** Copies the labels. */
        public NoOffer {
            needs = List.copyOf(needs);
        }

        @Override
        public String text(Instant at) {
            return "no live worker that serves queue " + queue + " offers " + String.join(" and ", needs);
        }
    }

    /**
     * Live workers serve the queue of the job, but none of them has a handler for its type.
     *
     * @param queue name of the queue
     * @param type name of the type
     */
    public record NoHandler(String queue, String type) implements Reason {
        @Override
        public String text(Instant at) {
            return "no live worker that serves queue " + queue + " has a handler for " + type;
        }
    }

    /**
     * All workers that could run the job are busy, as of their last reports.
     *
     * @param workers number of these workers
     */
    public record WorkersBusy(int workers) implements Reason {
        @Override
        public String text(Instant at) {
            return workers == 1
                    ? "the one worker that could run it is busy"
                    : "all " + grouped(workers) + " workers that could run it are busy";
        }
    }

    /**
     * All workers that could run the job run as many jobs of its type as each of them may, or are busy, as of their last
     * reports. The number is set by {@link io.reprise.RepriseBuilder#concurrency(io.reprise.JobType, int)} or by the
     * settings of the type.
     *
     * @param type name of the type
     * @param workers number of these workers
     */
    public record TypeFull(String type, int workers) implements Reason {
        @Override
        public String text(Instant at) {
            return workers == 1
                    ? "the one worker that could run it runs as many jobs of type " + type + " as it may"
                    : "all " + grouped(workers) + " workers that could run it run as many jobs of type " + type
                            + " as each may";
        }
    }

    /**
     * Other due jobs of the queue are claimed first. Each number is counted up to {@link #MAX_JOBS}; {@code MAX_JOBS + 1} means
     * more.
     *
     * @param higherPriority number of jobs of higher priority
     * @param earlier number of jobs of the same priority that are due earlier
     */
    public record Behind(int higherPriority, int earlier) implements Reason {
        @Override
        public String text(Instant at) {
            String urgent = number(higherPriority) + " of higher priority";
            String before = number(earlier) + " due earlier";
            if (earlier == 0) {
                return "is behind " + urgent;
            }
            return "is behind " + (higherPriority == 0 ? before : urgent + " and " + before);
        }

        private static String number(int n) {
            return n > MAX_JOBS ? "more than " + counted(MAX_JOBS, "job") : counted(n, "job");
        }
    }

    /**
     * The deadline of the job has passed. No run starts any more, and the leading worker fails the job within about a
     * second.
     *
     * @param deadline the deadline
     */
    public record DeadlinePassed(Instant deadline) implements Reason {
        @Override
        public String text(Instant at) {
            return "its deadline passed " + ago(deadline, at);
        }
    }

    /**
     * The upkeep that the job waits for is behind. Usually it takes about a second. The log of the leading worker says
     * what delays it.
     *
     * @param piece name of the piece of upkeep, as in {@code reprise_upkeep_behind}
     * @param rows how many rows wait for it; {@link io.reprise.insight.Behind#MAX_ROWS} means at least as many
     * @param by how long the first of them has waited
     */
    public record UpkeepLate(String piece, long rows, Duration by) implements Reason {
        @Override
        public String text(Instant at) {
            return "upkeep of " + piece + " is behind by " + length(at.minus(by), at) + ", with " + grouped(rows)
                    + (rows == 1 ? " row" : " rows") + " to do";
        }
    }

    /** Nothing holds the job back: a worker claims it when it next looks for work. */
    public record Next() implements Reason {
        @Override
        public String text(Instant at) {
            return "is claimed when a worker next looks for work";
        }
    }

    /** Describes all reasons and the prediction in one English sentence. */
    public String sentence() {
        String why = reasons.stream().map(reason -> reason.text(at)).collect(Collectors.joining("; "));
        return "Job " + id + ": " + why + (prediction == null ? "." : "; of its next attempt: " + prediction + ".");
    }

    private static String by(@Nullable String rule) {
        return rule == null ? "" : " by rule '" + Isolation.of(rule) + "'";
    }

    private static String ago(Instant then, Instant now) {
        return length(then, now) + " ago";
    }

    private static String length(Instant from, Instant to) {
        Duration length = from.isAfter(to) ? Duration.ZERO : Duration.between(from, to);
        if (length.toSeconds() == 0 && !length.isZero()) {
            return length.toMillis() + " ms";
        }
        if (length.toMinutes() < 2) {
            return length.toSeconds() + " s";
        }
        if (length.toHours() < 2) {
            return length.toMinutes() + " min";
        }
        return length.toDays() < 2 ? length.toHours() + " h" : length.toDays() + " days";
    }

    private static String counted(int n, String what) {
        return grouped(n) + " " + what + (n == 1 ? "" : "s");
    }

    /** Returns a rate in words: per minute if it is less than one per second. */
    private static String pace(double perSecond) {
        if (perSecond < 1) {
            return counted((int) Math.round(60 * perSecond), "job") + " a minute";
        }
        String exact = String.format(Locale.ROOT, "%.1f", perSecond);
        boolean whole = perSecond >= 10 || exact.endsWith(".0");
        return (whole ? grouped(Math.round(perSecond)) : exact) + (exact.equals("1.0") ? " job" : " jobs")
                + " a second";
    }

    private static String grouped(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }
}
