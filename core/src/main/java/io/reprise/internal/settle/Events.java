// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.JobListener;
import io.reprise.events.FleetReader;
import io.reprise.failure.Failure;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.insight.JobEvent.Kind;
import io.reprise.insight.RetryView;
import io.reprise.insight.TraceParent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.Progress;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Writes committed changes to the log and passes them to listeners. The {@code Committer}, the
 * {@code Reclaimer} and callers of the API call it after the store has answered. An exception of a listener is
 * logged and never reaches the engine.
 */
public final class Events {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private static final int MAX_CONTROLS = 1_000;

    private final List<JobListener> listeners;

    /** The listeners of each kind of transition; an event that nobody listens to is not made. */
    private final Map<Kind, List<JobListener>> byKind = new EnumMap<>(Kind.class);

    /** Resources whose open breaker the log has named. */
    private final Set<String> open = ConcurrentHashMap.newKeySet();

    /** Changes of control state that no report has written yet; the oldest goes if there are too many. */
    private final ArrayDeque<ControlEvent> controls = new ArrayDeque<>();

    /** Tells other processes, while somebody there listens. */
    private final EventRelay relay;

    public Events(List<JobListener> listeners, EventRelay relay) {
        this.listeners = List.copyOf(listeners);
        this.relay = relay;
        for (Kind kind : Kind.values()) {
            byKind.put(
                    kind,
                    this.listeners.stream()
                            .filter(listener -> listener.listensTo(kind))
                            .toList());
        }
    }

    /** The part that tells other processes. */
    public EventRelay relay() {
        return relay;
    }

    /** Whether somebody hears events of this kind, here or in the fleet. */
    public boolean isHeard(Kind kind) {
        return hasListeners(kind) || relay.isWanted();
    }

    /** Publishes a settlement that the store accepted at {@code at}. */
    public void settled(Job job, Settlement settlement, Instant at) {
        settled(job, settlement, at, null);
    }

    /**
     * Publishes a settlement that the store accepted at {@code at}.
     *
     * @param firstFailedAt when the job first failed; null if that is unknown
     */
    public void settled(Job job, Settlement settlement, Instant at, @Nullable Instant firstFailedAt) {
        Settlement.Next next = settlement.next();
        int attempt = job.attempts() + 1;
        Instant dueAt = next instanceof Settlement.Wait wait ? at.plus(wait.delay()) : null;
        if (next instanceof Settlement.PutBack) {
            dueAt = at;
        } else if (next instanceof Settlement.Park park) {
            dueAt = park.delay() == null ? at : at.plus(park.delay());
        }
        if (next instanceof Settlement.Fail fail) {
            int attempts =
                    settlement.decision() != null && settlement.decision().counts() ? attempt : job.attempts();
            logFailure(job, attempts, fail.reason(), settlement.failure());
        } else if (log.isInfoEnabled() && settlement.decision() instanceof Decision.Retry retry) {
            int upcoming = settlement.decision().counts() ? attempt + 1 : attempt;
            about(log.atInfo(), job, upcoming)
                    .log(
                            "Task retry scheduled: {} (attempt {}) in {}s ({} of {} in queue {}: {})",
                            job.id(),
                            upcoming,
                            seconds(retry.delay()),
                            retry.rule(),
                            job.type(),
                            job.queue(),
                            settlement.failure());
        }
        Kind kind = kind(settlement);
        if (isHeard(kind)) {
            Duration ran = settlement.spent() == CountedAs.NOTHING ? null : settlement.ran();
            tell(new JobEvent(
                    kind,
                    job.id(),
                    job.type(),
                    job.queue(),
                    job.spec().resource(),
                    attempt,
                    at,
                    job.times().firstDueAt(),
                    firstFailedAt,
                    ran,
                    dueAt,
                    settlement.failure(),
                    settlement.decision(),
                    retries(job, settlement, dueAt),
                    null));
        }
    }

    /** Logs that a job failed because it waited beyond its deadline. No run of it ended. */
    public void logExpired(Job job) {
        logFailure(job, job.attempts(), FailReason.DEADLINE, "it waited too long");
    }

    /** The messages say "Task" as OmniQ's log does; LogTest fixes the text. Everywhere else the word is job. */
    private static void logFailure(Job job, int attempts, FailReason reason, @Nullable Object why) {
        about(log.atWarn(), job, attempts)
                .log(
                        "Task failed permanently: {} after {} {} ({} of {} in queue {}: {})",
                        job.id(),
                        attempts,
                        attempts == 1 ? "attempt" : "attempts",
                        reason,
                        job.type(),
                        job.queue(),
                        why);
    }

    private static RetryView retries(Job job, Settlement settlement, @Nullable Instant dueAt) {
        Settlement.Next next = settlement.next();
        Decision decision = settlement.decision();
        boolean counted = decision == null ? settlement.spent() == CountedAs.ATTEMPT : decision.counts();
        boolean ended = next instanceof Settlement.Succeed || next instanceof Settlement.Cancel;
        boolean barred = next instanceof Settlement.Fail fail && !fail.reason().isRetryable();
        return RetryView.after(
                job,
                job.attempts() + (counted ? 1 : 0),
                ended || next instanceof Settlement.Fail,
                ended || barred,
                decision instanceof Decision.Retry ? dueAt : null);
    }

    /** Publishes a cancellation that the store wrote in place of this settlement, because a person had requested it. */
    public void cancelled(Job job, Settlement settlement, Instant at) {
        if (isHeard(Kind.CANCELLED)) {
            publish(Kind.CANCELLED, job, job.attempts() + 1, at, settlement.ran(), null, settlement.failure());
        }
    }

    /** Publishes a change of a job that no settlement made. */
    public void published(Kind kind, Job job, Instant at) {
        if (kind == Kind.REQUEUED) {
            about(log.atInfo(), job, job.attempts() + 1)
                    .log(
                            "Task retried by hand: {} (attempt {} of {} in queue {})",
                            job.id(),
                            job.attempts() + 1,
                            job.type(),
                            job.queue());
        }
        publishAsItIs(kind, job, at);
    }

    /** Publishes that a person changed a waiting job. */
    public void changed(Job job, Instant at) {
        about(log.atInfo(), job, job.attempts() + 1)
                .log(
                        "Task changed by hand: {} (due {}, {} in queue {})",
                        job.id(),
                        job.times().dueAt(),
                        job.type(),
                        job.queue());
        publishAsItIs(Kind.REQUEUED, job, at);
    }

    private void publishAsItIs(Kind kind, Job job, Instant at) {
        if (isHeard(kind)) {
            Instant dueAt = job.state().isTerminal() ? null : job.times().dueAt();
            publish(kind, job, job.attempts(), at, null, dueAt, null);
        }
    }

    public void enqueued(JobId id, JobSpec spec, Instant at, Instant dueAt) {
        if (isHeard(Kind.ENQUEUED)) {
            tell(new JobEvent(
                    Kind.ENQUEUED,
                    id,
                    spec.type(),
                    spec.queue(),
                    spec.resource(),
                    0,
                    at,
                    dueAt,
                    null,
                    null,
                    dueAt,
                    null,
                    null,
                    enqueued(spec),
                    null));
        }
    }

    private static RetryView enqueued(JobSpec spec) {
        Integer most = spec.policy().complete().maxAttempts().toOptional().orElse(null);
        return new RetryView(0, most == null ? null : most - 1, true, null);
    }

    public void started(Job job, Instant at) {
        if (isHeard(Kind.STARTED)) {
            publish(Kind.STARTED, job, job.attempts() + 1, at, null, job.times().dueAt(), null);
        }
    }

    /** Publishes the progress of a run, after the store has it. */
    public void progress(Job job, Progress progress, Instant at) {
        if (isHeard(Kind.PROGRESS)) {
            tell(new JobEvent(
                    Kind.PROGRESS,
                    job.id(),
                    job.type(),
                    job.queue(),
                    job.spec().resource(),
                    job.attempts() + 1,
                    at,
                    job.times().firstDueAt(),
                    null,
                    null,
                    null,
                    null,
                    null,
                    RetryView.of(job),
                    progress));
        }
    }

    void stale(Job job, Instant at) {
        log.warn("Outcome of job {} refused: its lease was lost before; nothing was changed", job.id());
        if (isHeard(Kind.STALE)) {
            publish(Kind.STALE, job, job.attempts() + 1, at, null, null, null);
        }
    }

    void followUpFailed(Kind kind, JobId job, Throwable failure) {
        for (JobListener listener : listeners) {
            try {
                listener.onFollowUpFailure(kind, job, failure);
            } catch (Throwable e) { // See tell(): a listener must not harm the engine.
                log.error("A listener failed on a follow-up job that failed", e);
            }
        }
    }

    void advisorFailed(JobId job, Throwable failure) {
        for (JobListener listener : listeners) {
            try {
                listener.onAdvisorFailure(job, failure);
            } catch (Throwable e) { // See tell(): a listener must not harm the engine.
                log.error("A listener failed on a retry advisor that failed", e);
            }
        }
    }

    public void alert(Alert alert) {
        if (alert.isRaised()) {
            log.warn("{}", alert.message());
        } else {
            log.info("{}", alert.message());
        }
        boolean written = relay.add(alert);
        for (JobListener listener : listeners) {
            try {
                if (written && listener instanceof FleetReader reader) {
                    reader.onWritten();
                } else {
                    listener.onAlert(alert);
                }
            } catch (Throwable e) { // See tell(): a listener must not harm the engine.
                log.error("A listener failed on the alert '{}'", alert.message(), e);
            }
        }
    }

    /** Returns the changes of control state since the last call, oldest first. */
    public List<ControlEvent> takeControls() {
        synchronized (controls) {
            List<ControlEvent> taken = List.copyOf(controls);
            controls.clear();
            return taken;
        }
    }

    private void keep(ControlEvent event) {
        synchronized (controls) {
            if (controls.size() == MAX_CONTROLS) {
                controls.removeFirst();
            }
            controls.addLast(event);
        }
    }

    /** Publishes a change of control state. */
    public void control(ControlEvent event) {
        keep(event);
        if (isNews(event)) {
            log.warn("{} of '{}': {}", event.kind(), event.subject(), event.why());
        } else {
            log.debug("{} of '{}': {}", event.kind(), event.subject(), event.why());
        }
        boolean written = relay.add(event);
        for (JobListener listener : listeners) {
            try {
                if (written && listener instanceof FleetReader reader) {
                    reader.onWritten();
                } else {
                    listener.onControl(event);
                }
            } catch (Throwable e) { // See tell().
                log.error("A listener failed on {} of '{}'", event.kind(), event.subject(), e);
            }
        }
    }

    /** A breaker is news when it opens and when it closes. Its probes in between would fill the log in an outage. */
    private boolean isNews(ControlEvent event) {
        return switch (event.kind()) {
            case BREAKER_OPENED -> open.add(event.subject());
            case BREAKER_HALF_OPENED, BREAKER_RAMPING -> false;
            case BREAKER_CLOSED -> {
                open.remove(event.subject());
                yield true;
            }
            case RESOURCE_BUDGET_EMPTIED, QUEUE_BUDGET_EMPTIED, TYPE_BUDGET_EMPTIED, BUDGET_EMPTIED -> true;
        };
    }

    private void publish(
            Kind kind,
            Job job,
            int attempt,
            Instant at,
            @Nullable Duration ran,
            @Nullable Instant dueAt,
            @Nullable Failure failure) {
        tell(new JobEvent(
                kind,
                job.id(),
                job.type(),
                job.queue(),
                job.spec().resource(),
                attempt,
                at,
                job.times().firstDueAt(),
                null,
                ran,
                dueAt,
                failure,
                null,
                kind == Kind.CANCELLED ? RetryView.after(job, job.attempts(), true, true, null) : RetryView.of(job),
                null));
    }

    /** Whether a listener wants transitions of this kind. */
    public boolean hasListeners(Kind kind) {
        return !listeners(kind).isEmpty();
    }

    private List<JobListener> listeners(Kind kind) {
        return byKind.getOrDefault(kind, List.of());
    }

    private void tell(JobEvent event) {
        boolean written = relay.add(event);
        for (JobListener listener : listeners(event.kind())) {
            try {
                if (written && listener instanceof FleetReader reader) {
                    reader.onWritten();
                } else {
                    listener.onEvent(event);
                }
            } catch (Throwable e) { // Even an Error: the job is committed, and a listener must not stop the engine.
                log.error("A listener failed on {} of job {}; the job is not affected", event.kind(), event.id(), e);
            }
        }
    }

    static Kind kind(Settlement settlement) {
        Settlement.Next next = settlement.next();
        if (next instanceof Settlement.Succeed) {
            return Kind.SUCCEEDED;
        }
        if (next instanceof Settlement.Fail) {
            return Kind.FAILED;
        }
        if (next instanceof Settlement.Cancel) {
            return Kind.CANCELLED;
        }
        if (settlement.decision() instanceof Decision.Retry) {
            return Kind.RETRY_SCHEDULED;
        }
        if (next instanceof Settlement.Park) {
            return Kind.PARKED;
        }
        return settlement.decision() instanceof Decision.Snooze ? Kind.SNOOZED : Kind.RELEASED;
    }

    /** Adds what a line of JSON tells beside the message. The text of the line does not show it. */
    private static LoggingEventBuilder about(LoggingEventBuilder line, Job job, int attempt) {
        LoggingEventBuilder about = line.addKeyValue("job", job.id().toString())
                .addKeyValue("type", job.type())
                .addKeyValue("queue", job.queue())
                .addKeyValue("attempt", attempt);
        return TraceParent.in(job.spec().tags())
                .map(trace -> about.addKeyValue("trace_id", trace.traceId()))
                .orElse(about);
    }

    private static String seconds(Duration delay) {
        return String.format(Locale.ROOT, "%.1f", delay.toNanos() / 1e9);
    }
}
