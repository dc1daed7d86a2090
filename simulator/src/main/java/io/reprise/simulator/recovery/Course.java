// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.ArrayList;
import java.util.List;

/** What happened in a world, by the second. Jobs of bystanders are counted apart. */
final class Course {

    /** One second. */
    static final class Second {
        int arrived;
        int calls;
        int good;
        int failed;
        int throttled;
        double took;
        /** Successes of jobs that came after the first success that followed the trouble. */
        int fresh;
        /** Of those, how many waited when the second began. */
        int freshWaiting;

        int othersArrived;
        int othersGood;
        /** What could be done in this second, by workers, resources and the jobs there are; NaN if not looked at. */
        double sustained = Double.NaN;
        /** Jobs that are parked. */
        long parked;
        /** Jobs that are due and not running, wherever they wait. */
        long available;

        String phase = "";
        String why = "";
        /** Calls per second that the breaker lets go; NaN if it has none. */
        double limit = Double.NaN;
    }

    private final List<Second> seconds = new ArrayList<>();
    long jobs;
    long calls;
    /** Calls that were not the first of their job. */
    long retries;

    long succeeded;
    long dead;
    /** Given up although nothing but the trouble was in their way. */
    long wronglyDead;
    /** Seconds from arrival to success, of jobs that came well after the end. */
    final List<Double> freshWaits = new ArrayList<>();
    /** Resources with jobs that have waited for a success since the end, though it is long over. */
    final List<String> stuck = new ArrayList<>();
    /** When all jobs of a storm had ended; NaN if they never did. */
    double drained = Double.NaN;
    /** Up to when workers that were killed are felt: their leases and their lead. */
    double mourned;
    /** When the first call succeeded after the end; NaN if none did. */
    double firstGood = Double.NaN;

    Second at(int second) {
        while (seconds.size() <= second) {
            seconds.add(new Second());
        }
        return seconds.get(second);
    }

    /** How many seconds there are. */
    int length() {
        return seconds.size();
    }
}
