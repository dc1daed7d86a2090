// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Alert;
import io.reprise.JobId;
import io.reprise.JobState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows beside the jobs: how they fared, who works on them, where one stands, what alarms. All of it is
 * aggregate, bounded and for people; nothing that becomes of a job depends on its being exact.
 *
 * <p>Kept at least: activity for 3 hours, by minute; spending for 31 days, by day in UTC; evidence until less than half
 * a try is left of it. {@link JobStore#maintain} drops the rest.
 */
public interface InsightStore {

    /** Rows of evidence there are at most, or a few more. */
    int MAX_EVIDENCE = 5_000;

    /** Rows of spending there are at most for each day, or a few more. */
    int MAX_SPENDING = 2_000;

    /** Rows of activity there are at most for each minute, or a few more. */
    int MAX_ACTIVITY = 500;

    /**
     * Adds to what is there, now. What would be one row too many is added to {@link Cause#REST} (evidence: after attempt
     * {@link Evidence#LAST_ATTEMPT}) or {@link Activity#REST}.
     */
    void tally(Findings findings);

    /** All evidence, as it counts now. */
    List<Evidence> evidence();

    /** Spending of the day that was {@code age} ago and of those since, added up by cause and unit. */
    List<Spending> spending(Duration age);

    /** Activity in {@code minutes} minutes of the clock, the last of them the one that was {@code ago}, by type. */
    List<Activity> activity(Duration ago, int minutes);

    /** Notes that a worker lives, and will be taken to for {@code ttl}. */
    void checkIn(WorkerReport report, Duration ttl);

    /** Notes that a worker is gone. */
    void checkOut(String worker);

    /** The workers that live, by name. */
    List<WorkerState> workers();

    /** How a job stands. Counts those before it up to {@code most}, looking at no more than about as many. */
    Optional<Standing> standing(JobId id, int most);

    /**
     * How far each piece of upkeep is behind, by name. Looks at no more than {@link Behind#MOST} rows for each.
     *
     * @param keep how long jobs are kept that ended in these states
     */
    List<Behind> behind(Map<JobState, Duration> keep);

    /**
     * Sums up how long the payloads and results of jobs are, whatever their state, for the next {@code rows} jobs. Who wants to know of
     * all asks again until there is no next part; jobs that move meanwhile may be in none of the parts, or in two.
     *
     * @param cursor what the part before called next; null for the first
     */
    StoredBytes bytes(@Nullable String cursor, int rows);

    /** Notes an alert. False if one of its kind and type is raised already; that one stays as it is. */
    boolean raise(Alert alert);

    /** Forgets an alert. False if none of its kind and type is raised. */
    boolean clear(Alert alert);

    /** The alerts that are raised, by the names of kind and type. */
    List<Alert> alerts();
}
