// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.Job;
import io.reprise.remote.RemoteLease;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Jobs as they were leased here, so that a report about one need not read it again. Whether a lease still counts only the
 * store knows. The oldest are forgotten when there are too many. Thread-safe.
 */
final class LentJobs {

    /** Characters that all of them may have. */
    static final int MAX_CHARS = 16 << 20;

    /** Bytes that a job takes beside its payload. */
    private static final int EACH = 1_000;

    private final Map<RemoteLease.Key, Job> jobs = new LinkedHashMap<>();
    private long chars;

    synchronized void add(RemoteLease.Key key, Job job) {
        Job before = jobs.put(key, job);
        chars += size(job) - (before == null ? 0 : size(before));
        Iterator<Job> oldest = jobs.values().iterator();
        while (chars > MAX_CHARS) {
            chars -= size(oldest.next());
            oldest.remove();
        }
    }

    /** The job, which is forgotten; null if it is not known here. */
    synchronized @Nullable Job take(RemoteLease.Key key) {
        Job job = jobs.remove(key);
        chars -= job == null ? 0 : size(job);
        return job;
    }

    private static int size(Job job) {
        return EACH + job.spec().payload().length();
    }
}
