// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.Driver;
import io.reprise.internal.Outlook;
import io.reprise.retry.Prediction;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says of jobs that failed how their next attempt may fare. Reads the evidence when it is asked, and seldom. Thread-safe. */
final class Advisor {

    private static final Duration FRESH = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private final JobStore store;
    private final Driver driver;
    private final Outlook outlook = new Outlook();
    private long freshUntilNanos;

    Advisor(JobStore store, Driver driver) {
        this.store = store;
        this.driver = driver;
        this.freshUntilNanos = driver.nanos();
    }

    /** The job with a prediction, if it has failed and may run again. */
    Job advise(Job job) {
        Prediction prediction = prediction(job);
        return prediction == null
                ? job
                : new Job(job.id(), job.spec(), job.status().with(prediction), job.counts(), job.times());
    }

    @Nullable
    Prediction prediction(Job job) {
        JobStatus.LastError error = job.status().lastError();
        boolean over = job.state() == JobState.SUCCEEDED || job.state() == JobState.CANCELLED;
        if (job.attempts() == 0 || error == null || over) {
            return null;
        }
        learn();
        return outlook.after(job, error.fingerprint(), job.attempts());
    }

    private synchronized void learn() {
        if (driver.nanos() - freshUntilNanos >= 0) {
            freshUntilNanos = driver.nanos() + FRESH.toNanos();
            try {
                outlook.learn(store.evidence());
            } catch (StoreException e) {
                log.debug("Predictions are made from what was known before: {}", e.getMessage());
            }
        }
    }
}
