// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.Schedule;
import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.Stores;
import io.reprise.cli.terminal.CtrlC;
import io.reprise.insight.JobEvent;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.RepriseException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Runs the demo: enqueues jobs, shows their progress, and stops when all have ended or the time is up. */
final class Demo {

    private static final String SCHEDULE = "demo/check-stock";
    private static final String NAME = "demo-" + ProcessHandle.current().pid();
    private static final Duration FRAME = Duration.ofMillis(200);
    private static final Duration BETWEEN_ARRIVALS = Duration.ofSeconds(2);

    /** Jobs that arrive later could not end in time. */
    private static final double ARRIVALS_UNTIL = 0.72;

    private final Path file;
    private final @Nullable Duration length;
    private final DemoView view;
    private final DemoJobs jobs;
    private final InstantSource clock = InstantSource.system();
    private Instant start = clock.instant();
    private final Scoreboard scoreboard = new Scoreboard();
    private final Map<JobId, OptionalInt> limits = new HashMap<>();
    private final List<DemoRow> notes = new ArrayList<>();
    private int step;

    /** A length of null means without end. */
    Demo(Path file, @Nullable Duration length, DemoView view) {
        this.file = file;
        this.length = length;
        this.view = view;
        this.jobs = new DemoJobs(length == null ? DemoJobs.FULL_LENGTH : length);
    }

    DemoSummary run(CtrlC ctrlC) throws InterruptedException {
        int resumed = inspect();
        try (view) {
            RepriseBuilder builder = Reprise.builder()
                    .store(Stores.sqlite(file))
                    .queues(DemoJobs.QUEUES.stream().map(Queue::of).toArray(Queue[]::new))
                    .codec(new JacksonCodec())
                    .name(NAME)
                    .listener(scoreboard)
                    .concurrency(8)
                    .lease(Duration.ofSeconds(10))
                    .poll(Duration.ofMillis(50))
                    .stopGrace(Duration.ofSeconds(1));
            jobs.register(builder);
            try (Reprise reprise = builder.start()) {
                start = clock.instant();
                jobs.begin();
                play(reprise, ctrlC, resumed);
            }
            // Closing has written the last outcomes.
            showRest();
        }
        return new DemoSummary(elapsed(), scoreboard.lines(), scoreboard.tally());
    }

    /** Refuses a database that is not the demo's. Returns how many jobs of an earlier demo wait in it. */
    private int inspect() {
        try (Reprise reprise =
                Reprise.builder().store(Stores.sqlite(file)).name(NAME).start()) {
            for (QueueState queue : reprise.queues()) {
                boolean used = queue.counts().values().stream().anyMatch(count -> count > 0);
                if (used && !DemoJobs.QUEUES.contains(queue.name())) {
                    throw new BadInput("Invalid value for option '--db': " + file + " holds jobs of queue '"
                            + queue.name() + "', which are not the demo's. Give it a file of its own.");
                }
            }
            JobQuery live =
                    JobQuery.all().state(JobState.PENDING, JobState.RUNNING).limit(JobQuery.MAX_LIMIT);
            List<Job> waiting = reprise.find(live).items();
            waiting.forEach(scoreboard::add);
            return waiting.size();
        } catch (RepriseException e) {
            throw new BadInput("Cannot keep the jobs in " + file + ": " + e.getMessage(), e);
        }
    }

    private void play(Reprise reprise, CtrlC ctrlC, int resumed) throws InterruptedException {
        if (resumed > 0) {
            String jobsWaiting = resumed == 1 ? "1 job" : resumed + " jobs";
            note("", jobsWaiting + " of an earlier demo waited in " + file + " and go on");
        }
        Duration interval = jobs.scaled(3_000);
        Duration least = Duration.ofSeconds(1);
        reprise.schedule(Schedule.every(SCHEDULE, interval.compareTo(least) < 0 ? least : interval, jobs.stockCheck()));
        boolean scheduled = true;
        boolean stopped = false;
        while (!stopped && !isOver(scheduled)) {
            if (arrivalsEnded()) {
                scheduled = scheduled && !reprise.unschedule(SCHEDULE);
            } else if (elapsed()
                            .compareTo(jobs.scaled(BETWEEN_ARRIVALS.toMillis()).multipliedBy(step))
                    >= 0) {
                arrive(reprise);
            }
            show(reprise);
            stopped = ctrlC.await(FRAME);
        }
        reprise.unschedule(SCHEDULE);
        show(reprise);
    }

    private boolean arrivalsEnded() {
        return length != null && elapsed().toNanos() > length.toNanos() * ARRIVALS_UNTIL;
    }

    private boolean isOver(boolean scheduled) {
        boolean timeIsUp = length != null && elapsed().compareTo(length) >= 0;
        boolean allEnded =
                scoreboard.lines().stream().allMatch(line -> line.state().isTerminal());
        return timeIsUp || (arrivalsEnded() && !scheduled && allEnded);
    }

    private void arrive(Reprise reprise) {
        reprise.enqueueAll(jobs.arrivals(step));
        if (step % 10 == 1) {
            JobId first = reprise.enqueue(jobs.index());
            for (int i = 0; i < 2; i++) {
                JobId again = reprise.enqueue(jobs.index());
                if (again.equals(first)) {
                    note("rebuild-index #" + first, "asked for again; its unique key leads to the job that is there");
                }
            }
        }
        step++;
    }

    private void show(Reprise reprise) {
        List<JobEvent> events = scoreboard.takeEvents();
        for (JobEvent event : events) {
            limits.computeIfAbsent(
                    event.id(), id -> reprise.find(id).map(Job::maxAttempts).orElse(OptionalInt.empty()));
        }
        show(events);
    }

    private void showRest() {
        show(scoreboard.takeEvents());
    }

    private void show(List<JobEvent> events) {
        List<DemoRow> rows = new ArrayList<>();
        for (JobEvent event : events) {
            // A start is not shown: the end of the run follows, with the same attempt.
            if (event.kind() != JobEvent.Kind.STARTED) {
                Duration at = Duration.between(start, event.at());
                rows.add(DemoRow.of(at, event, limits.getOrDefault(event.id(), OptionalInt.empty())));
            }
        }
        rows.addAll(notes);
        notes.clear();
        rows.sort(Comparator.comparing(DemoRow::at));
        view.show(new DemoView.Moment(elapsed(), length, scoreboard.lines(), rows));
    }

    private void note(String job, String text) {
        notes.add(DemoRow.note(elapsed(), job, text));
    }

    private Duration elapsed() {
        return Duration.between(start, clock.instant());
    }
}
