// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobEvent.Kind;
import io.reprise.JobRequest;
import io.reprise.JobSpec;
import io.reprise.SequelRule;
import io.reprise.store.Settlement;
import io.reprise.store.Settlement.Sequels;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds follow-up jobs to outcomes, as the sequel rules say. The store writes them in the transaction of the outcome.
 * The {@code Decider}, {@code Deadlines}, {@link RunContext#complete} and {@code Operations} call it. Without rules it
 * returns the settlement unchanged. Thread-safe.
 */
public final class Outbox {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Set<Kind> FOLLOWED =
            EnumSet.of(Kind.SUCCEEDED, Kind.RETRY_SCHEDULED, Kind.FAILED, Kind.CANCELLED);

    private final List<SequelRule> rules;
    private final Function<JobRequest<?>, JobSpec> toSpec;
    private final Events events;

    public Outbox(List<SequelRule> rules, Function<JobRequest<?>, JobSpec> toSpec, Events events) {
        this.events = events;
        this.rules = List.copyOf(rules);
        this.toSpec = toSpec;
    }

    public boolean isEmpty() {
        return rules.isEmpty();
    }

    Settlement with(Job job, Settlement settlement) {
        if (rules.isEmpty()) {
            return settlement;
        }
        Settlement.Next next = settlement.next();
        boolean certain = next instanceof Settlement.Succeed || next instanceof Settlement.Cancel;
        Sequels sequels = new Sequels(
                after(Events.kind(settlement), job, settlement.token()),
                certain ? List.of() : after(Kind.CANCELLED, job, settlement.token()));
        return sequels.isEmpty() ? settlement : settlement.with(sequels);
    }

    /** Returns the jobs that follow this event of a job. */
    public List<JobSpec> after(Kind kind, Job job, long token) {
        if (!FOLLOWED.contains(kind)) {
            return List.of();
        }
        List<JobSpec> jobs = new ArrayList<>();
        for (SequelRule rule : rules) {
            attempt(
                    kind,
                    job,
                    () -> rule.after(kind, job, token)
                            // Each job is checked alone: a job that cannot be stored does not affect the others.
                            .forEach(each ->
                                    attempt(kind, job, () -> jobs.add(Sequels.requireHarmless(toSpec.apply(each))))));
        }
        return jobs;
    }

    private void attempt(Kind kind, Job job, Runnable work) {
        try {
            work.run();
        } catch (Throwable e) { // Even an Error: the outcome of a job must not depend on its follow-up jobs.
            log.error(
                    "A sequel rule failed on {} of job {}; what it should have added does not follow",
                    kind,
                    job.id(),
                    e);
            events.sequelFailed(kind, job.id(), e);
        }
    }
}
