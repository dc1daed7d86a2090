// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * How one worker serves a queue. Immutable: each method returns a copy.
 *
 * @param weight share of the worker's claims that look at this queue first; ignored in strict order
 * @param concurrency jobs of this queue the worker runs at once; null for as many as the worker runs altogether
 * @param policy for jobs enqueued here, below their own and their type's
 */
public record Queue(String name, int weight, @Nullable Integer concurrency, RetryPolicy policy) {

    public Queue {
        JobSpec.requireName("queue", name);
        if (weight < 1 || weight > 1000) {
            throw new IllegalArgumentException("weight of queue '" + name + "' must be 1 to 1000, not " + weight);
        }
        if (concurrency != null && (concurrency < 1 || concurrency > 10_000)) {
            throw new IllegalArgumentException(
                    "concurrency of queue '" + name + "' must be 1 to 10000, not " + concurrency);
        }
    }

    public static Queue of(String name) {
        return new Queue(name, 1, null, RetryPolicy.unset());
    }

    public Queue weight(int weight) {
        return new Queue(name, weight, concurrency, policy);
    }

    public Queue concurrency(int jobs) {
        return new Queue(name, weight, jobs, policy);
    }

    public Queue retry(RetryPolicy policy) {
        return new Queue(name, weight, concurrency, policy);
    }
}
