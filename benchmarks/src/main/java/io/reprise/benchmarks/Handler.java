// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

/** What a job does. Throwing means that it failed and shall be retried at once. */
@FunctionalInterface
interface Handler {

    void run(String payload) throws Exception;
}
