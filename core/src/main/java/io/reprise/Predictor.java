// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.settle.PredictionTable;
import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.retry.Prediction;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Predicts how the next attempt of a failed job may end. Reads the evidence of the fleet on demand, at most every 10 s.
 * Thread-safe.
 */
final class Predictor {

    /** The evidence that was read is used for this long. */
    private static final Duration FRESH = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private final JobStore store;
    private final Driver driver;
    private final PredictionTable predictions = new PredictionTable();
    private long freshUntilNanos;

    Predictor(JobStore store, Driver driver) {
        this.store = store;
        this.driver = driver;
        this.freshUntilNanos = driver.nanos();
    }

    /** Returns the job with a prediction, or the job itself if {@link #prediction} returns null. */
    Job advise(Job job) {
        Prediction prediction = prediction(job);
        return prediction == null
                ? job
                : new Job(job.id(), job.spec(), job.status().with(prediction), job.counts(), job.times());
    }

    /** Returns null if the job never failed, succeeded, was cancelled, or too little evidence exists. */
    @Nullable
    Prediction prediction(Job job) {
        JobStatus.LastError error = job.status().lastError();
        boolean over = job.state() == JobState.SUCCEEDED || job.state() == JobState.CANCELLED;
        if (job.counts().attempts() == 0 || error == null || over) {
            return null;
        }
        learn();
        return predictions.after(job, error.fingerprint(), job.counts().attempts());
    }

    private synchronized void learn() {
        if (driver.nanos() - freshUntilNanos >= 0) {
            freshUntilNanos = driver.nanos() + FRESH.toNanos();
            try {
                predictions.learn(store.evidence());
            } catch (StoreException e) {
                log.debug("Predictions are made from what was known before: {}", e.getMessage());
            }
        }
    }
}
