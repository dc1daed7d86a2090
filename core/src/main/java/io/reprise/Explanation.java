// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.Breaker;
import io.reprise.control.ControlKey;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Why a job is, or is not, running.
 *
 * @param at the store's time at which this was so
 * @param reasons never empty; the one that matters most comes first
 * @param nextAt when the next thing happens, where a time is set for it
 * @param prediction what the fleet's experience says of its next attempt, after a failure
 */
public record Explanation(
        JobId id,
        Instant at,
        List<Reason> reasons,
        @Nullable Instant nextAt,
        @Nullable Prediction prediction) {

    /** Those who stand before a job are counted up to this. */
    public static final int MOST = 1_000;

    public Explanation {
        reasons = List.copyOf(reasons);
    }

    /** One reason. */
    public sealed interface Reason {

        /** In words, as at this time. */
        String text(Instant at);
    }

    public record Succeeded(Instant finishedAt, int attempts) implements Reason {
        @Override
        public String text(Instant at) {
            return "succeeded " + ago(finishedAt, at) + " at attempt " + attempts;
        }
    }

    public record Cancelled(Instant finishedAt) implements Reason {
        @Override
        public String text(Instant at) {
            return "was cancelled " + ago(finishedAt, at);
        }
    }

    /**
     * A dead letter.
     *
     * @param rule of the last decision, as far as that is kept
     * @param error class name of the last failure
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
                    + (error == null ? "" : ", last with " + error) + by(rule);
        }
    }

    /** Its lease is renewed while its worker lives. */
    public record Running(String worker, Instant since, Instant leaseUntil, boolean cancelRequested) implements Reason {
        @Override
        public String text(Instant at) {
            return "has been running on " + worker + " for " + length(since, at) + ", with a lease for another "
                    + length(at, leaseUntil) + (cancelRequested ? ", and was asked to stop" : "");
        }
    }

    /** Its worker did not renew its lease; another will take it over. */
    public record Silent(String worker, Instant leaseEndedAt) implements Reason {
        @Override
        public String text(Instant at) {
            return "was running on " + worker + ", whose lease ended " + ago(leaseEndedAt, at)
                    + "; it comes back as soon as a worker takes the lease over";
        }
    }

    /**
     * It waits for its time.
     *
     * @param attempts counted so far, out of {@code maxAttempts} if limited
     * @param rule of the decision to wait, if it was one
     */
    public record NotDue(
            Instant dueAt,
            WaitReason why,
            int attempts,
            OptionalInt maxAttempts,
            @Nullable String rule) implements Reason {
        @Override
        public String text(Instant at) {
            String of = maxAttempts.isPresent() ? " of " + maxAttempts.getAsInt() : "";
            String after = attempts == 0 ? "" : " after attempt " + attempts + of;
            return "is due in " + length(at, dueAt) + after + " (" + why + ")" + by(rule);
        }
    }

    public record QueuePaused(
            String queue,
            Instant since,
            String by,
            @Nullable String why) implements Reason {
        @Override
        public String text(Instant at) {
            return "queue " + queue + " was paused by " + by + " " + ago(since, at) + (why == null ? "" : ": " + why);
        }
    }

    /**
     * The breaker of its resource holds it back.
     *
     * @param nextProbe when an open breaker lets the next probe through
     * @param parked jobs that the breaker has parked, this one included
     * @param ramp how it lets them go; null unless it is ramping
     */
    public record HeldByBreaker(
            String resource,
            Breaker.Phase phase,
            Instant since,
            @Nullable Instant nextProbe,
            String why,
            long parked,
            ResourceStatus.@Nullable RampStatus ramp)
            implements Reason {
        @Override
        public String text(Instant at) {
            String until = nextProbe == null ? "" : ", next probe in " + length(at, nextProbe);
            String state = phase.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            return "the breaker for " + resource + " has been " + state + " for " + length(since, at) + until
                    + (why.isEmpty() ? "" : ": " + why)
                    + (ramp == null ? "" : letsGo(ramp, at));
        }

        private String letsGo(ResourceStatus.RampStatus now, Instant at) {
            return "; it lets " + grouped(Math.round(now.rate())) + " jobs a second go"
                    + (now.why().isEmpty() ? "" : " (" + now.why() + ")") + "; all " + grouped(parked)
                    + " parked jobs are through in about " + length(at, at.plus(now.through()));
        }
    }

    /**
     * Its retry waits until a budget can pay for it.
     *
     * @param now what the budget holds, and what waits for it
     */
    public record BudgetEmpty(ControlKey budget, ResourceStatus.BudgetStatus now) implements Reason {
        @Override
        public String text(Instant at) {
            String whose = switch (budget.kind()) {
                case RESOURCE_BUDGET -> "the retry budget of resource " + budget.subject();
                case QUEUE_BUDGET -> "the retry budget of queue " + budget.subject();
                default -> "the retry budget of all jobs";
            };
            Duration through = now.through();
            return whose + " is empty; successes fill it"
                    + (through == null
                            ? ""
                            : "; all " + grouped(now.waiting()) + " retries that wait for it run in about "
                                    + length(at, at.plus(through)));
        }
    }

    /** As many jobs of its queue run as may. */
    public record LimitReached(String queue, int maxRunning, int running) implements Reason {
        @Override
        public String text(Instant at) {
            return "the limit of queue " + queue + " is reached: " + grouped(running) + " of " + grouped(maxRunning)
                    + " jobs are running";
        }
    }

    public record NoWorker(String queue) implements Reason {
        @Override
        public String text(Instant at) {
            return "no live worker serves queue " + queue;
        }
    }

    public record NoHandler(String queue, String type) implements Reason {
        @Override
        public String text(Instant at) {
            return "no live worker that serves queue " + queue + " has a handler for " + type;
        }
    }

    /** As they last reported. */
    public record WorkersBusy(int workers) implements Reason {
        @Override
        public String text(Instant at) {
            return workers == 1
                    ? "the one worker that could run it is busy"
                    : "all " + grouped(workers) + " workers that could run it are busy";
        }
    }

    /** Others are claimed before it; each number is counted up to {@link #MOST}. */
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
            return n > MOST ? "more than " + counted(MOST, "job") : counted(n, "job");
        }
    }

    /** No run starts any more; it is about to fail. */
    public record DeadlinePassed(Instant deadline) implements Reason {
        @Override
        public String text(Instant at) {
            return "its deadline passed " + ago(deadline, at);
        }
    }

    /** Nothing is in its way. */
    public record Next() implements Reason {
        @Override
        public String text(Instant at) {
            return "is claimed when a worker next looks for work";
        }
    }

    /** All of it in one sentence. */
    public String sentence() {
        String why = reasons.stream().map(reason -> reason.text(at)).collect(Collectors.joining("; "));
        return "Job " + id + ": " + why + (prediction == null ? "." : "; of its next attempt: " + prediction + ".");
    }

    private static String by(@Nullable String rule) {
        return rule == null ? "" : " by rule '" + rule + "'";
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

    private static String grouped(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }
}
