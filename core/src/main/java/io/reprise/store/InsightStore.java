// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.Alert;
import io.reprise.insight.Behind;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.insight.QueuePosition;
import io.reprise.insight.StoredBytes;
import io.reprise.insight.WaitingError;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Data of a store beside the jobs: statistics, workers, positions of jobs, alerts. It is for people, aggregated and
 * bounded. No outcome of a job depends on its being exact.
 *
 * <p>A store keeps at least: activity for 3 hours by minute and for 31 days by hour; spending for 31 days, by day in UTC; evidence until less
 * than half a try is left of it. {@link JobStore#maintain} deletes the rest.
 *
 * @since 0.1.0
 */
public interface InsightStore {

    /** Rows of evidence at most, or a few more. */
    int MAX_EVIDENCE = 5_000;

    /** Changes of breakers and budgets that are kept, the newest of the fleet; somewhat more between two sweeps. */
    int MAX_CONTROL_EVENTS = 10_000;

    /** Rows of spending for each day at most, or a few more. */
    int MAX_SPENDING = 2_000;

    /**
     * Adds counts to the stored ones, at the store's now. A row beyond the limit is added to {@link ErrorKey#REST}
     * (evidence: after attempt {@link Evidence#LAST_ATTEMPT}) or to {@link Activity#REST}; activity has
     * {@link Activity.Step#names} rows of a subject in each period. A second call with the same
     * findings counts them twice. Every worker calls it every 10 seconds if it has counted something.
     */
    void addCounts(WorkerCounts workerCounts);

    /** Returns all evidence, aged to the store's now. */
    List<Evidence> evidence();

    /**
     * Returns the spending of the last days, added up by cause and unit.
     *
     * @param age the first day is the day, in UTC, that was this long ago; the last is today
     */
    List<CostEntry> spending(Duration age);

    /**
     * Returns the activity in some minutes of the clock, added up by type.
     *
     * @param ago the last minute is the one that was this long ago
     * @param minutes number of minutes
     */
    List<Activity> activity(Duration ago, int minutes);

    /** Returns the activity of each period in which something was counted, by time and name. */
    List<ActivityPeriod> activity(ActivityQuery query);

    /**
     * Keeps changes of breakers and budgets. A change that is kept already stays as it is. A worker calls it every 10
     * seconds if it made changes. {@link JobStore#maintain} deletes those older than 31 days, and the oldest beyond
     * {@value #MAX_CONTROL_EVENTS}.
     */
    void addControlEvents(List<ControlEvent> events);

    /**
     * Returns the latest changes of a breaker or budget, newest first.
     *
     * @param subject {@link ControlEvent#subject}
     * @param limit changes at most
     */
    List<ControlEvent> controlEvents(String subject, int limit);

    /**
     * Records that a worker is alive, in place of its last report. Every worker calls it every 10 seconds.
     *
     * @param ttl how long the worker counts as alive from now
     */
    void checkIn(WorkerReport report, Duration ttl);

    /** Records that a worker stopped. Nothing happens if it is not known. */
    void checkOut(String worker);

    /** Returns the workers that count as alive, by name. */
    List<WorkerState> workers();

    /**
     * Returns the position of a job among others; empty if there is no such job.
     *
     * @param most the jobs before it are counted up to this number, and the store reads no more than about as many
     */
    Optional<QueuePosition> queuePosition(JobId id, int most);

    /**
     * Returns what jobs of a queue may start now under these limits, by the running jobs and starts that are stored. It
     * changes nothing.
     *
     * @param group the group that is asked about; null for none
     */
    FlowGate flow(String queue, GroupRules rules, @Nullable String group);

    /**
     * Counts jobs that are PENDING by the reason why they wait. Running jobs do not count. If the sum is {@code rows},
     * there may be more.
     *
     * @param rows jobs that the store looks at, at most
     */
    Map<WaitReason, Long> waiting(int rows);

    /**
     * Counts jobs of a queue that wait or run by the name of their group. Jobs without a group do not count. If the sum is
     * close to {@code rows}, there may be more.
     *
     * @param rows jobs that the store looks at, at most
     */
    Map<String, Long> groups(String queue, int rows);

    /**
     * Returns the errors of jobs that are PENDING after a counted attempt, the error of most jobs first. Jobs
     * that run again at this moment may count. If the sum of their jobs is {@code rows}, there may be more.
     *
     * @param queuePrefix only jobs of queues that begin so; null for all
     * @param rows jobs that the store looks at, at most or somewhat more
     */
    List<WaitingError> waitingErrors(@Nullable String queuePrefix, int rows);

    /**
     * Returns how far each piece of upkeep is behind, in the order of names. The store reads at most
     * {@link Behind#MAX_ROWS} rows for each.
     *
     * @param keep how long jobs in these terminal states are kept
     */
    List<Behind> behind(Map<JobState, Duration> keep);

    /**
     * Adds up the sizes of payloads, results, steps and log lines of the next {@code rows} jobs, in any state. A caller
     * that wants all jobs calls again until there is no next part. A job that moves between two calls may be in no
     * part, or in two.
     *
     * @param cursor {@link StoredBytes#next} of the part before; null for the first part
     * @param rows jobs of one part at most
     */
    StoredBytes bytes(@Nullable String cursor, int rows);

    /**
     * Stores an alert, unless an alert of its kind and type is raised already. Check and change are one atomic step.
     *
     * @return whether it was stored; if false, the raised alert stays as it is
     */
    boolean raise(Alert alert);

    /**
     * Deletes the alert of this kind and type.
     *
     * @return whether there was one
     */
    boolean clear(Alert alert);

    /** Returns the raised alerts, by the names of kind and type. */
    List<Alert> alerts();
}
