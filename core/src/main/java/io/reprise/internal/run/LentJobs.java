// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.Job;
import io.reprise.remote.RemoteLease;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Jobs as they were leased here, so that a report about one need not read it again. Whether a lease still counts only the
 * store knows. Jobs are forgotten after a minute, and the oldest earlier when there are too many: the report may go to another
 * server, or never come. Thread-safe.
 */
final class LentJobs {

    /** Characters that all of them may have. */
    static final int MAX_CHARS = 16 << 20;

    /** A report that comes later reads its job again. */
    static final Duration KEPT = Duration.ofMinutes(1);

    /** Bytes that a job takes beside its payload. */
    private static final int EACH = 1_000;

    private record Lent(Job job, long nanos) {}

    private final Map<RemoteLease.Key, Lent> jobs = new LinkedHashMap<>();
    private final LongSupplier nanoTime;
    private long chars;

    /**
     * Creates it empty.
     *
     * @param nanoTime monotonic time of this machine
     */
    LentJobs(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    synchronized void add(RemoteLease.Key key, Job job) {
        take(key);
        long now = nanoTime.getAsLong();
        jobs.put(key, new Lent(job, now));
        chars += size(job);
        Iterator<Lent> oldest = jobs.values().iterator();
        while (oldest.hasNext()) {
            Lent lent = oldest.next();
            if (chars <= MAX_CHARS && now - lent.nanos <= KEPT.toNanos()) {
                return;
            }
            chars -= size(lent.job);
            oldest.remove();
        }
    }

    /** The job, which is forgotten; null if it is not known here. */
    synchronized @Nullable Job take(RemoteLease.Key key) {
        Lent lent = jobs.remove(key);
        if (lent == null) {
            return null;
        }
        chars -= size(lent.job);
        return lent.job;
    }

    private static int size(Job job) {
        return EACH + job.spec().payload().length();
    }
}
