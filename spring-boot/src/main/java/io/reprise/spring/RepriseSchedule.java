// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.Schedule;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Enqueues the job of a method again and again. The method must not need a payload. Without {@link RepriseJob} the name
 * of the schedule is also the name of the job type.
 *
 * <pre>{@code
 * @RepriseSchedule(name = "nightly-report", cron = "0 2 * * *", zone = "Europe/Berlin")
 * void report() { ... }
 * }</pre>
 *
 * <p>Values may contain placeholders. {@code reprise.schedules.<name>.cron}, {@code .every} and {@code .fixed-delay}
 * replace the rule; the value {@code -} removes the schedule.
 *
 * @since 0.1.0
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface RepriseSchedule {

    /** The name of the schedule, unique in the store. The default is the type of {@link RepriseJob}. */
    String name() default "";

    /** A cron expression of five fields, or of six with seconds first. One of this, {@link #every}, {@link #fixedDelay}. */
    String cron() default "";

    /** An interval such as {@code 5m}, from firing to firing. */
    String every() default "";

    /** A time such as {@code 5m}, from the end of one job to the next firing. */
    String fixedDelay() default "";

    /** Whether it fires as soon as it is stored for the first time, or with another rule. */
    boolean firstNow() default false;

    /** An instant such as {@code 2027-01-01T00:00:00Z} before which it does not fire. */
    String start() default "";

    /** An instant after which it does not fire. */
    String end() default "";

    /** A time such as {@code 30s}: each job becomes due up to this much later. */
    String jitter() default "";

    /** The time zone of the cron expression. */
    String zone() default "UTC";

    /** The rule for firings that were missed. */
    Schedule.MissedFire missed() default Schedule.MissedFire.ONCE;

    /** Whether the schedule fires while its previous job is pending or running. */
    boolean overlap() default false;
}
