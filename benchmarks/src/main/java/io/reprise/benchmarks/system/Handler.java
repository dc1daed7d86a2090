// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

/** The code of a job. An exception means that the job failed and must be retried at once. */
@FunctionalInterface
public interface Handler {

    void run(String payload) throws Exception;

    /** Called before the steps of a job, if it has any. */
    default void begin() {}
}
