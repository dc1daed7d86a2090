// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static java.util.Comparator.naturalOrder;

import io.reprise.Job;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Where the last claims of one queue ended, so that the next need not step over what is held already, nor over index
 * entries of jobs that are gone: with an old snapshot open the server cannot remove those, and there may be millions.
 *
 * <p>A claim that goes on from here misses jobs that came to lie before it: put back, or committed late. So now and then one
 * looks from the start: whenever little was found, unless that is dear, and then as often as takes a small part of the time.
 * Thread-safe.
 */
final class ClaimCursor {

    /** Looks from the start take no more than one in so many parts of the time. */
    private static final int SHARE = 10;

    /** The same while an old snapshot makes them long. */
    static final int SHARE_IF_DEAR = 30;

    /** Smaller batches cost little and are claimed from the start: who is not in a hurry sees all there is. */
    private static final int LARGE = 100;

    private static final int LANE_BITS = 20;
    private static final int LOWEST = -9;
    private static final int RETRY_LANE = 1;
    private static final Position START = new Position(Long.MIN_VALUE, Long.MIN_VALUE);

    /** A level of the ready index: equality on these, then by due time and id. */
    record Level(int lane, int priority) implements Comparable<Level> {
        @Override
        public int compareTo(Level other) {
            return lane != other.lane ? Integer.compare(lane, other.lane) : Integer.compare(other.priority, priority);
        }
    }

    /** The last entry of a level that was taken. */
    record Position(long dueAt, long id) implements Comparable<Position> {
        @Override
        public int compareTo(Position other) {
            return dueAt != other.dueAt ? Long.compare(dueAt, other.dueAt) : Long.compare(id, other.id);
        }
    }

    /**
     * A claimed job and where it was.
     *
     * @param admitted whether it waited for a breaker and was let through
     * @param damage why the job is not understood; null if it is
     */
    record Taken(
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
    private boolean dear;

    /** Whether to begin at the positions, rather than to look from the start. */
    synchronized boolean goesOn(long nanos) {
        return (plenty || dear)
                && !positions.isEmpty()
                && nanos - lookedAt < (dear ? SHARE_IF_DEAR : SHARE) * lookNanos;
    }

    /** Whether an empty answer from here may be taken for an empty queue. */
    synchronized boolean isTrusted(long nanos) {
        return dear && !positions.isEmpty() && nanos - lookedAt < SHARE_IF_DEAR * lookNanos;
    }

    /** No lease of the queue has a lesser id. */
    synchronized long floor() {
        return floor;
    }

    synchronized long[][] columns() {
        long[][] columns = new long[4][positions.size()];
        int i = 0;
        for (Map.Entry<Level, Position> entry : positions.entrySet()) {
            columns[0][i] = entry.getKey().lane();
            columns[1][i] = entry.getKey().priority();
            columns[2][i] = entry.getValue().dueAt();
            columns[3][i] = entry.getValue().id();
            i++;
        }
        return columns;
    }

    /**
     * A look from the start ended.
     *
     * @param steps whether it had to step over entries of jobs long gone
     */
    synchronized void looked(long from, long to, boolean steps) {
        lookNanos = to - from;
        lookedAt = to;
        dear = steps;
    }

    /**
     * A batch was claimed.
     *
     * @param wanted how many were wanted
     * @param leastLease the least id of a lease of the queue
     * @param levels those that were looked at, as bits: 20 for each lane, from the lowest priority on
     */
    synchronized void claimed(List<Taken> jobs, int wanted, long leastLease, long levels) {
        for (long left = levels; left != 0; left &= left - 1) {
            int bit = Long.numberOfTrailingZeros(left);
            positions.putIfAbsent(new Level(bit / LANE_BITS, bit % LANE_BITS + LOWEST), START);
            // Where jobs of this level will be when they have failed.
            positions.putIfAbsent(new Level(RETRY_LANE, bit % LANE_BITS + LOWEST), START);
        }
        jobs.forEach(taken -> positions.merge(taken.level(), taken.position(), BinaryOperator.maxBy(naturalOrder())));
        plenty = jobs.size() == wanted && wanted >= LARGE;
        floor = Math.max(floor, leastLease);
    }

    /** Something may have come to lie before the positions. */
    synchronized void forget() {
        positions.clear();
    }
}
