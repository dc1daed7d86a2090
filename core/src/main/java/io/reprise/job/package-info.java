// SPDX-License-Identifier: Apache-2.0
/**
 * The plain data of jobs, which the API and the stores share: {@link io.reprise.job.Job} and its parts, queries and
 * pages, queues, workers, the audit, and the exceptions. Nothing here reads a store or a clock.
 */
@NullMarked
package io.reprise.job;

import org.jspecify.annotations.NullMarked;
