// SPDX-License-Identifier: Apache-2.0
package io.reprise.batch;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import org.jspecify.annotations.Nullable;

/**
 * A child of a join that has ended.
 *
 * @param place its number, from 0
 * @param job its id
 * @param state how it ended last
 * @param result JSON of its result, as the codec stored it; null if it has none
 * @since 0.1.0
 */
public record BatchMember(
        int place, JobId job, JobState state, @Nullable String result) {}
