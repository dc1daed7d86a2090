// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.ArrayList;
import java.util.List;

/** The events of a world, by the second. Jobs of bystanders are counted separately. */
final class Course {

    /** One second. */
    static final class Second {
        int arrived;
        int calls;
        int good;
        int failed;
        int throttled;
        double took;
        /** Successes of jobs that arrived after the first success that followed the trouble. */
        int fresh;
        /** How many such jobs waited when the second began. */
        int freshWaiting;

        int othersArrived;
        int othersGood;
        /** Calls that workers, resources and existing jobs allow in this second; NaN if not computed. */
        double sustained = Double.NaN;
        /** Parked jobs. */
        long parked;
        /** Jobs that are due and not running, wherever they wait. */
        long available;

        String phase = "";
        String why = "";
        /** Calls per second that the breaker admits; NaN if there is no such limit. */
        double limit = Double.NaN;
    }

    private final List<Second> seconds = new ArrayList<>();
    long jobs;
    long calls;
    /** Calls that were not the first of their job. */
    long retries;

    long succeeded;
    long dead;
    /** Jobs given up although only the trouble was in their way. */
    long wronglyDead;
    /** Seconds from arrival to success, of jobs that arrived well after the end. */
    final List<Double> freshWaits = new ArrayList<>();
    /** Resources with jobs that have had no success since the end, although it is long ago. */
    final List<String> stuck = new ArrayList<>();
    /** When all jobs of a storm had ended; NaN if they never did. */
    double drained = Double.NaN;
    /** Until when killed workers have an effect, through their leases and their lead. */
    double mourned;
    /** When the first call succeeded after the end; NaN if none did. */
    double firstGood = Double.NaN;

    Second at(int second) {
        while (seconds.size() <= second) {
            seconds.add(new Second());
        }
        return seconds.get(second);
    }

    /** Returns the number of seconds. */
    int length() {
        return seconds.size();
    }
}
