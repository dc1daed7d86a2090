// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.job.Job;
import io.reprise.retry.Prediction;
import io.reprise.retry.Prediction.Basis;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Predicts the next attempt of a job from evidence that the whole fleet has counted. The {@code Reporter} refreshes it;
 * the {@code Decider} asks it for each failure. Thread-safe.
 */
public final class PredictionTable {

    /** With fewer tries than this, wider evidence is used. */
    private static final int MIN_TRIES = 10;

    /** A key of the evidence. Wider keys leave out the attempt (0), and then the error (null). */
    private record Situation(
            String type,
            @Nullable String resource,
            @Nullable String error,
            int attempt) {}

    private record Sum(double successes, double tries) {
        static final Sum NONE = new Sum(0, 0);

        double share() {
            return successes / tries;
        }

        Sum plus(Sum more) {
            return new Sum(successes + more.successes, tries + more.tries);
        }
    }

    private volatile Map<Situation, Sum> known = Map.of();

    public void learn(List<Evidence> evidence) {
        Map<Situation, Sum> sums = new HashMap<>();
        for (Evidence each : evidence) {
            ErrorKey cause = each.cause();
            Sum sum = new Sum(each.successes(), each.tries());
            sums.merge(new Situation(cause.type(), cause.resource(), cause.error(), each.attempt()), sum, Sum::plus);
            sums.merge(new Situation(cause.type(), cause.resource(), cause.error(), 0), sum, Sum::plus);
            sums.merge(new Situation(cause.type(), cause.resource(), null, 0), sum, Sum::plus);
        }
        known = sums;
    }

    /**
     * Predicts the outcome after attempt {@code attempt} failed with this error. Returns null if nothing is known.
     *
     * @param wanted tries that the caller needs for its decision. With fewer tries for this attempt, evidence about the
     *     error in general is used, unless the evidence for this attempt is more hopeful
     */
    public @Nullable Prediction after(Job job, String error, int attempt, int wanted) {
        Map<Situation, Sum> sums = known;
        if (sums.isEmpty()) {
            return null;
        }
        String type = job.type();
        String resource = ErrorKey.resource(job);
        Sum exact = sums.getOrDefault(
                new Situation(type, resource, error, Math.min(attempt, Evidence.LAST_ATTEMPT)), Sum.NONE);
        Sum same = sums.getOrDefault(new Situation(type, resource, error, 0), Sum.NONE);
        if (exact.tries >= MIN_TRIES
                && (exact.tries >= wanted || same.tries < wanted || exact.share() > same.share())) {
            return prediction(exact, Basis.ATTEMPT);
        }
        if (same.tries >= MIN_TRIES) {
            return prediction(same, Basis.ERROR);
        }
        Sum any = sums.getOrDefault(new Situation(type, resource, null, 0), Sum.NONE);
        return any.tries >= MIN_TRIES ? prediction(any, Basis.TYPE) : null;
    }

    public @Nullable Prediction after(Job job, String error, int attempt) {
        return after(job, error, attempt, MIN_TRIES);
    }

    private static Prediction prediction(Sum sum, Basis basis) {
        return new Prediction(Math.min(sum.successes, sum.tries), sum.tries, basis);
    }
}
