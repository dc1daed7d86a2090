// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.FollowUpRule;
import io.reprise.JobRequest;
import io.reprise.batch.Membership;
import io.reprise.insight.JobEvent.Kind;
import io.reprise.internal.run.RunContext;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.store.Settlement;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds follow-up jobs to outcomes, as the chain of the job and the follow-up rules say. The store writes them in the transaction of the outcome.
 * The {@code Decider}, {@code Deadlines}, {@link RunContext#complete} and {@code Operations} call it. Without chain and
 * rules it returns the settlement unchanged. Thread-safe.
 */
public final class FollowUps {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Set<Kind> FOLLOWED =
            EnumSet.of(Kind.SUCCEEDED, Kind.RETRY_SCHEDULED, Kind.FAILED, Kind.CANCELLED);

    private final List<FollowUpRule> rules;
    private final Function<JobRequest<?>, JobSpec> toSpec;
    private final Events events;

    public FollowUps(List<FollowUpRule> rules, Function<JobRequest<?>, JobSpec> toSpec, Events events) {
        this.events = events;
        this.rules = List.copyOf(rules);
        this.toSpec = toSpec;
    }

    /** Whether no job can have a follow-up but through its own chain, which follows no cancellation. */
    public boolean isEmpty() {
        return rules.isEmpty();
    }

    public Settlement with(Job job, Settlement settlement) {
        if (rules.isEmpty() && job.spec().chain() == null && job.spec().batch() == null) {
            return settlement;
        }
        Settlement.Next next = settlement.next();
        boolean certain = next instanceof Settlement.Succeed || next instanceof Settlement.Cancel;
        // Those that the decision itself has are the children of a join.
        List<JobSpec> jobs = new ArrayList<>(settlement.followUps().jobs());
        jobs.addAll(after(Events.kind(settlement), job, settlement.token()));
        Settlement.FollowUps followUps = new Settlement.FollowUps(
                jobs, certain ? List.of() : after(Kind.CANCELLED, job, settlement.token()), Membership.in(job.spec()));
        return followUps.isEmpty() ? settlement : settlement.with(followUps);
    }

    /** Returns the jobs that follow this event of a job. */
    public List<JobSpec> after(Kind kind, Job job, long token) {
        if (!FOLLOWED.contains(kind)) {
            return List.of();
        }
        List<JobSpec> jobs = new ArrayList<>();
        if (job.spec().chain() != null) {
            attempt(kind, job, () -> jobs.addAll(Chain.after(kind, job)));
        }
        for (FollowUpRule rule : rules) {
            attempt(
                    kind,
                    job,
                    () -> rule.after(kind, job, token)
                            // Each job is checked alone: a job that cannot be stored does not affect the others.
                            .forEach(each -> attempt(
                                    kind,
                                    job,
                                    () -> jobs.add(Settlement.FollowUps.requireHarmless(toSpec.apply(each))))));
        }
        return jobs;
    }

    private void attempt(Kind kind, Job job, Runnable work) {
        try {
            work.run();
        } catch (Throwable e) { // Even an Error: the outcome of a job must not depend on its follow-up jobs.
            log.error(
                    "The follow-up jobs of {} of job {} could not be made; what is missing does not follow",
                    kind,
                    job.id(),
                    e);
            events.followUpFailed(kind, job.id(), e);
        }
    }
}
