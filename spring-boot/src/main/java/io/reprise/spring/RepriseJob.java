// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a bean the handler of a job type. Its parameters are the payload and a
 * {@link io.reprise.JobContext}; either or both may be missing. A value that it returns becomes the result of the job.
 * The method is called through the proxy of its bean, so other annotations work too. It must not be private.
 *
 * <pre>{@code
 * @RepriseJob("send-email")
 * void send(Email email, JobContext job) { ... }
 * }</pre>
 *
 * <p>Values may contain placeholders such as <code>${mail.queue}</code>. Properties below
 * {@code reprise.types.<type>} take precedence over the attributes.
 *
 * @since 0.1.0
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface RepriseJob {

    /** The name of the job type, which is stored with each job. */
    String value();

    /** The queue of jobs that name none. The default is {@code default}. */
    String queue() default "";

    /** The resource of jobs that name none: the downstream system that the method calls. */
    String resource() default "";

    /** The retry policy of the type: the name of a bean of class RetryPolicy, or of a preset. */
    String retry() default "";

    /** The time limit of one run, such as {@code 30s}, for jobs that set none. The default is no limit. */
    String timeout() default "";

    /**
     * Whether the method runs in a Spring transaction, and completes its job in that transaction. The changes of the
     * method and the end of the job are then one commit.
     */
    boolean transactional() default false;

    /**
     * Whether a run may be repeated after its worker died. If false, such a job is not run again: it becomes a dead
     * letter at its first loss.
     */
    boolean idempotent() default true;
}
