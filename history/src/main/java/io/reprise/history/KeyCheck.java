// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Checks that two jobs never held one unique key. */
final class KeyCheck {

    /** A job that holds a key, since the end of the call that gave it the key. */
    private record Holder(JobTrack job, long since) {}

    private final Map<String, Holder> holders = new HashMap<>();
    private final Map<String, Long> liveRows = new HashMap<>();
    private final BiConsumer<String, String> report;

    KeyCheck(BiConsumer<String, String> report) {
        this.report = report;
    }

    void enqueued(HistoryEvent event, JobTrack job) {
        String key = event.detail("key");
        if (key == null || !event.isTrue("created")) {
            return;
        }
        Holder other = holders.get(key);
        if (other != null && other.job != job && event.isSurelyAfter(other.since) && !other.job.mayHaveEnded()) {
            report.accept(
                    "unique key",
                    "Job " + job.id() + " was stored with key " + key + " although job " + other.job.id()
                            + " holds it and has not ended");
        }
        job.key(key);
        holders.put(key, new Holder(job, event.until()));
    }

    void held(JobTrack job) {
        String key = job.key();
        if (key != null) {
            holders.put(key, new Holder(job, Long.MAX_VALUE));
        }
    }

    void freed(JobTrack job) {
        String key = job.key();
        if (key == null) {
            return;
        }
        Holder holder = holders.get(key);
        if (holder != null && holder.job == job) {
            holders.remove(key);
        }
        liveRows.remove(key, job.id());
    }

    /** An unknown call may have freed the key. */
    void uncertain(JobTrack job) {
        freed(job);
    }

    void uncertain() {
        holders.clear();
    }

    /** Checks for a second live row with the key of a row that was read before. */
    void row(HistoryEvent event) {
        String key = event.detail("key");
        if (key == null) {
            return;
        }
        boolean live = event.is("state", "PENDING") || event.is("state", "RUNNING");
        @Nullable Long other = liveRows.get(key);
        if (!live) {
            liveRows.remove(key, event.job());
        } else if (other != null && other != event.job()) {
            report.accept("unique key", "Jobs " + other + " and " + event.job() + " both hold key " + key);
        } else {
            liveRows.put(key, event.job());
        }
    }
}
