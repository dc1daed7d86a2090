// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.insight.Activity;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The counts of the fleet for each of the last minutes. Workers add their counts to the minute in which they write them,
 * so a minute that is over never changes and is read once. Thread-safe.
 */
final class ActivityMinutes {

    /** Minutes that stores keep. */
    static final int KEPT = 180;

    private final JobStore store;
    private final TreeMap<Instant, List<Activity>> over = new TreeMap<>();

    ActivityMinutes(JobStore store) {
        this.store = store;
    }

    /** Returns the counts of the last minutes by their beginning, the minute that runs included. */
    synchronized NavigableMap<Instant, List<Activity>> last(int minutes) {
        Instant now = minute(store.now());
        over.headMap(now.minus(Duration.ofMinutes(KEPT)), true).clear();
        TreeMap<Instant, List<Activity>> found = new TreeMap<>();
        for (int ago = minutes - 1; ago >= 0; ago--) {
            Instant minute = now.minus(Duration.ofMinutes(ago));
            List<Activity> known = over.get(minute);
            found.put(minute, known == null ? read(minute, ago, now) : known);
        }
        return found;
    }

    private List<Activity> read(Instant minute, int ago, Instant now) {
        List<Activity> counts = store.activity(Duration.ofMinutes(ago), 1);
        if (!minute(store.now()).equals(now)) {
            // The next minute began meanwhile, so the counts may be of the minute after this one.
            return ago == 0 ? counts : List.of();
        }
        if (ago > 0) {
            over.put(minute, counts);
        }
        return counts;
    }

    private static Instant minute(Instant time) {
        return time.truncatedTo(ChronoUnit.MINUTES);
    }
}
