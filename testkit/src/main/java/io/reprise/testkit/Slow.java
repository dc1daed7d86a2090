// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A test, or a class of tests, that runs with {@code ./reprise test --all} only: it takes long, and a smaller test shows the
 * same kind of thing in every run. Otherwise it is skipped with a reason from which the test command counts such tests.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Tag("slow")
@ExtendWith(Slow.WhenAll.class)
public @interface Slow {

    /** Runs slow tests in a run of all tests. */
    final class WhenAll implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return TestRun.isAll()
                    ? ConditionEvaluationResult.enabled("all tests run")
                    : ConditionEvaluationResult.disabled("left to --all");
        }
    }
}
