// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static java.util.Comparator.naturalOrder;

import io.reprise.jdbc.sql.Params;
import io.reprise.job.Job;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Remembers where the last claims of one queue ended in the index reprise_job_ready. The next claim begins there. So it
 * need not step over held jobs, nor over index entries of deleted jobs. While an old snapshot is open the server cannot
 * remove those entries, and there may be millions.
 *
 * <p>A claim from the cursor misses jobs that now lie before it, because they were put back or committed late. So
 * some claims scan from the start: each time little was found, or, if a scan is slow, as often as takes a small
 * part of the time. Thread-safe.
 */
public final class ClaimCursor {

    /** Scans from the start pause for this many times their length. */
    private static final int SHARE = 10;

    /** This factor applies while an old snapshot makes scans slow. */
    public static final int SHARE_IF_DEAR = 30;

    /** Smaller batches are cheap, so they scan from the start and see all jobs. */
    private static final int LARGE = 100;

    private static final int LANE_BITS = 20;
    private static final int LOWEST = -9;
    private static final int RETRY_LANE = 1;
    private static final Position START = new Position(Long.MIN_VALUE, Long.MIN_VALUE);

    /** A range of the ready index: one lane and one priority. Within it entries are ordered by due_at and id. */
    public record Level(int lane, int priority) implements Comparable<Level> {
        @Override
        public int compareTo(Level other) {
            return lane != other.lane ? Integer.compare(lane, other.lane) : Integer.compare(other.priority, priority);
        }
    }

    /** The last entry of a level that was taken. */
    public record Position(long dueAt, long id) implements Comparable<Position> {
        @Override
        public int compareTo(Position other) {
            return dueAt != other.dueAt ? Long.compare(dueAt, other.dueAt) : Long.compare(id, other.id);
        }
    }

    /**
     * A claimed job with its place in the index.
     *
     * @param admitted whether a breaker parked the job and then admitted it
     * @param damage why the stored job cannot be read; null if it can
     */
    public record Taken(
            Job job,
            Level level,
            Position position,
            boolean admitted,
            @Nullable String damage) {}

    private final Map<Level, Position> positions = new TreeMap<>();
    private long floor;
    private long lookNanos;
    private long lookedAt;
    private boolean plenty;
    private boolean costly;

    /** Whether to begin at the cursor, rather than to scan from the start. */
    public synchronized boolean goesOn(long nanos) {
        return (plenty || costly)
                && !positions.isEmpty()
                && nanos - lookedAt < (costly ? SHARE_IF_DEAR : SHARE) * lookNanos;
    }

    /** Whether an empty answer from the cursor counts as an empty queue. */
    public synchronized boolean isTrusted(long nanos) {
        return costly && !positions.isEmpty() && nanos - lookedAt < SHARE_IF_DEAR * lookNanos;
    }

    /** A lower bound for the ids of the queue's leases. */
    public synchronized long floor() {
        return floor;
    }

    /** Adds the positions to the values of a claim that goes on from them: lanes, priorities, dues and ids. */
    public synchronized Params addTo(Params params) {
        long[][] columns = new long[4][positions.size()];
        int i = 0;
        for (Map.Entry<Level, Position> entry : positions.entrySet()) {
            columns[0][i] = entry.getKey().lane();
            columns[1][i] = entry.getKey().priority();
            columns[2][i] = entry.getValue().dueAt();
            columns[3][i] = entry.getValue().id();
            i++;
        }
        return params.and("lanes", columns[0])
                .and("priorities", columns[1])
                .and("dues", columns[2])
                .and("ids", columns[3]);
    }

    /**
     * Notes a scan from the start.
     *
     * @param steps whether an old snapshot made it step over entries of deleted jobs
     */
    public synchronized void scanned(long from, long to, boolean steps) {
        lookNanos = to - from;
        lookedAt = to;
        costly = steps;
    }

    /**
     * Notes a claimed batch.
     *
     * @param wanted how many jobs were wanted
     * @param leastLease the least id of a lease of the queue
     * @param levels the levels that were scanned, as bits: 20 for each lane, from the lowest priority on
     */
    public synchronized void claimed(List<Taken> jobs, int wanted, long leastLease, long levels) {
        for (long left = levels; left != 0; left &= left - 1) {
            int bit = Long.numberOfTrailingZeros(left);
            positions.putIfAbsent(new Level(bit / LANE_BITS, bit % LANE_BITS + LOWEST), START);
            // Jobs of this level go to the retry lane when they fail.
            positions.putIfAbsent(new Level(RETRY_LANE, bit % LANE_BITS + LOWEST), START);
        }
        jobs.forEach(taken -> positions.merge(taken.level(), taken.position(), BinaryOperator.maxBy(naturalOrder())));
        plenty = jobs.size() == wanted && wanted >= LARGE;
        floor = Math.max(floor, leastLease);
    }

    /** Drops all positions, because jobs may lie before them. */
    public synchronized void forget() {
        positions.clear();
    }
}
