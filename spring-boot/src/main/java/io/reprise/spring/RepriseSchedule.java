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
 * <p>Values may contain placeholders. {@code reprise.schedules.<name>.cron} and {@code .every} replace the rule; the
 * value {@code -} removes the schedule.
 *
 * @since 0.1.0
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface RepriseSchedule {

    /** The name of the schedule, unique in the store. The default is the type of {@link RepriseJob}. */
    String name() default "";

    /** A cron expression of five fields, or of six with seconds first. Either this or {@link #every}. */
    String cron() default "";

    /** An interval such as {@code 5m}. Either this or {@link #cron}. */
    String every() default "";

    /** The time zone of the cron expression. */
    String zone() default "UTC";

    /** The rule for firings that were missed. */
    Schedule.MissedFire missed() default Schedule.MissedFire.ONCE;

    /** Whether the schedule fires while its previous job is pending or running. */
    boolean overlap() default false;
}
