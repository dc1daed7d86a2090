// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Gives a Spring test an {@link io.reprise.testing.InlineWorker} and a {@link io.reprise.testing.ManualClock} as beans.
 * The handlers of the application run in the thread of the test, when the test calls {@code runDue} or {@code advance}.
 * Jobs are kept in memory; a transaction that rolls back takes its jobs with it.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureReprise
 * class OrderTest {
 *     @Autowired InlineWorker worker;
 *
 *     @Test
 *     void the_payment_is_retried() {
 *         orders.place(order);
 *         worker.advance(Duration.ofMinutes(5));
 *         ...
 *     }
 * }
 * }</pre>
 *
 * @since 0.1.0
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration
public @interface AutoConfigureReprise {}
