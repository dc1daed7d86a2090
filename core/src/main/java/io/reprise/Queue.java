// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings with which one worker serves a queue. Immutable: each method returns a copy, and the last call of a
 * method wins.
 *
 * @param name name of the queue
 * @param weight share of the worker's claims that look at this queue first, 1 to 1000; ignored by
 *     {@link RepriseBuilder#strictOrder}
 * @param concurrency greatest number of jobs of this queue that the worker runs at once, 1 to 10,000; null for the
 *     limit of the worker alone
 * @param policy retry policy of jobs that this process enqueues here, below those of job, type and resource
 * @param groups how groups of jobs share the queue, as this worker claims
 * @since 0.1.0
 */
public record Queue(String name, int weight, @Nullable Integer concurrency, RetryPolicy policy, GroupRules groups) {

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}, or a
     *     number is outside its bounds
     */
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

    /**
     * Creates settings with weight 1, without a limit and without a policy.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public static Queue of(String name) {
        return new Queue(name, 1, null, RetryPolicy.unset(), GroupRules.EQUAL);
    }

    /**
     * Sets the weight. A queue of weight 2 is looked at first twice as often as a queue of weight 1. The default is 1.
     *
     * @param weight 1 to 1000
     * @throws IllegalArgumentException if {@code weight} is outside these bounds
     */
    public Queue weight(int weight) {
        return new Queue(name, weight, concurrency, policy, groups);
    }

    /**
     * Limits how many jobs of this queue the worker runs at once. The default is no limit but that of the worker.
     *
     * @param jobs 1 to 10,000
     * @throws IllegalArgumentException if {@code jobs} is outside these bounds
     */
    public Queue concurrency(int jobs) {
        return new Queue(name, weight, jobs, policy, groups);
    }

    /**
     * Sets the retry policy of the queue. It applies below those of job, type and resource, and above that of the
     * worker.
     */
    public Queue retry(RetryPolicy policy) {
        return new Queue(name, weight, concurrency, policy, groups);
    }

    /**
     * Sets how many jobs a turn of a group has. The default is 1. See {@link GroupRules#weight}.
     *
     * @param group name of a group, or its beginning and {@code *}
     * @param weight jobs per turn, 1 to 1000
     * @throws IllegalArgumentException if the weight or the name is refused, or there are too many names
     */
    public Queue weight(String group, int weight) {
        return new Queue(name, this.weight, concurrency, policy, groups.weight(group, weight));
    }

    /**
     * Limits every group of the queue in the whole fleet. What is over the limit waits. Workers with different limits
     * each keep their own.
     */
    public Queue perGroup(FlowLimit limit) {
        return perGroup("*", limit);
    }

    /**
     * Limits some groups of the queue; see {@link GroupRules#limit}.
     *
     * @param group name of a group, or its beginning and {@code *}
     * @throws IllegalArgumentException if the name is refused, or there are too many names
     */
    public Queue perGroup(String group, FlowLimit limit) {
        return new Queue(name, weight, concurrency, policy, groups.limit(group, limit));
    }

    /**
     * Limits a job type within the queue in the whole fleet; see {@link GroupRules#type}. What is over the limit waits,
     * and jobs of other types go on.
     *
     * @param type name of the type
     * @throws IllegalArgumentException if the name is refused, or there are too many names
     */
    public Queue perType(String type, FlowLimit limit) {
        return new Queue(name, weight, concurrency, policy, groups.type(type, limit));
    }

    /**
     * Sets the service level of the queue: how soon a job should start after it is due. What starts later is counted, by
     * queue and group, and an alert is raised if it is more than 5 % of the jobs. See {@link Reprise#startLevels}.
     *
     * @param within 1 ms to 30 days
     * @throws IllegalArgumentException if {@code within} is outside these bounds
     */
    public Queue startWithin(Duration within) {
        return new Queue(name, weight, concurrency, policy, groups.goal(new StartGoal(within, false)));
    }

    /**
     * Lets jobs come first within their priority when they have waited for half of the time of {@link #startWithin}. They
     * take no turns then: the one that waited longest is first.
     *
     * @throws IllegalStateException if {@link #startWithin} was not called before
     */
    public Queue lateFirst() {
        StartGoal goal = groups.goal();
        if (goal == null) {
            throw new IllegalStateException("call startWithin before lateFirst: it says which jobs are late");
        }
        return new Queue(name, weight, concurrency, policy, groups.goal(new StartGoal(goal.within(), true)));
    }

    /**
     * Limits how many jobs of the queue start in a time, in the whole fleet.
     *
     * @throws IllegalArgumentException if {@code limit} limits what runs
     */
    public Queue rate(FlowLimit limit) {
        return new Queue(name, weight, concurrency, policy, groups.rate(limit));
    }
}
