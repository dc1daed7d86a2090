// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.function.ToDoubleFunction;

/** Sums over windows of a few seconds. Single seconds say little, because jobs are unparked in portions. */
final class Windows {

    static final double FULL = 0.9;

    private final RecoveryPlan plan;
    private final Course course;
    final Limits limits;
    /** Seconds of one window. */
    final int length;
    /** When the trouble is over. */
    final int over;
    /** When the fleet must be at full speed. */
    final int latest;

    Windows(RecoveryPlan plan, Course course) {
        this.plan = plan;
        this.course = course;
        this.limits = new Limits(plan);
        this.length = limits.window();
        this.over = (int) limits.over(course);
        this.latest = over + (int) limits.timeTo90();
    }

    double sum(int from, int seconds, ToDoubleFunction<Course.Second> of) {
        double sum = 0;
        for (int second = Math.max(0, from); second < Math.min(from + seconds, course.length()); second++) {
            sum += of.applyAsDouble(course.at(second));
        }
        return sum;
    }

    double good(int from) {
        return sum(from, length, second -> second.good);
    }

    double possible(int from) {
        return sum(from, length, second -> second.sustained);
    }

    boolean isPast(int from, int seconds) {
        return from + seconds >= course.length();
    }

    /** Whether each second of the window had more work than could be done. Otherwise the jobs bound the rate. */
    boolean isBusy(int from) {
        if (isPast(from, length)) {
            return false;
        }
        for (int second = from; second <= from + length; second++) {
            if (!(course.at(second).sustained >= FULL * limits.most())) {
                return false;
            }
        }
        return true;
    }

    /** Whether jobs were parked all the time, more than can be done in a second. */
    boolean isParked(int from, int seconds) {
        for (int second = from; second <= from + seconds; second++) {
            Course.Second now = course.at(second);
            if (now.parked == 0 || now.available < limits.most()) {
                return false;
            }
        }
        return true;
    }

    /** Whether a call failed or was throttled, or calls took longer than usual. */
    boolean isTroubled(int from, int seconds) {
        double longest = 2 * plan.trouble().call().longest();
        return sum(from, seconds, second -> second.failed + second.throttled) > 0
                || sum(from, seconds, second -> second.took > longest * second.good ? 1 : 0) > 0;
    }

    /** Returns the first second that begins a window of full speed; -1 if there is none in time. */
    int reached() {
        for (int second = over; second <= latest; second++) {
            if (isBusy(second) && good(second) >= FULL * possible(second) - Math.sqrt(possible(second))) {
                return second;
            }
        }
        return -1;
    }
}
