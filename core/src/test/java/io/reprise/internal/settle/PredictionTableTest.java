// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.retry.Prediction;
import io.reprise.retry.Prediction.Basis;
import io.reprise.testing.InMemoryJobStore;
import java.util.List;
import org.junit.jupiter.api.Test;

class PredictionTableTest {

    private final PredictionTable predictions = new PredictionTable();
    private final Job job = job();

    private static Job job() {
        InMemoryJobStore store = new InMemoryJobStore();
        JobSpec spec = JobSpec.builder("send", "{}").resource("mail").build();
        return store.find(store.insert(List.of(spec)).get(0).id()).orElseThrow();
    }

    private static Evidence after(String error, int attempt, double tries, double successes) {
        return new Evidence(new ErrorKey("send", "mail", error, "E"), attempt, tries, successes);
    }

    @Test
    void nothing_is_known_at_first() {
        assertThat(predictions.after(job, "e", 1)).isNull();
        predictions.learn(List.of(after("e", 1, 9, 9)));
        assertThat(predictions.after(job, "e", 1)).isNull();
    }

    @Test
    void the_nearest_evidence_of_which_there_is_enough_is_taken() {
        predictions.learn(List.of(after("e", 1, 20, 15), after("e", 2, 5, 0), after("f", 1, 75, 10)));
        assertThat(predictions.after(job, "e", 1)).isEqualTo(new Prediction(15, 20, Basis.ATTEMPT));
        assertThat(predictions.after(job, "e", 2)).isEqualTo(new Prediction(15, 25, Basis.ERROR));
        assertThat(predictions.after(job, "new", 1)).isEqualTo(new Prediction(25, 100, Basis.TYPE));
    }

    @Test
    void late_attempts_are_taken_together() {
        predictions.learn(List.of(after("e", Evidence.LAST_ATTEMPT, 20, 1)));
        assertThat(predictions.after(job, "e", 17)).isEqualTo(new Prediction(1, 20, Basis.ATTEMPT));
    }

    @Test
    void who_acts_on_it_gets_as_much_evidence_as_wanted() {
        predictions.learn(List.of(after("e", 1, 60, 0), after("e", 2, 60, 1)));
        assertThat(predictions.after(job, "e", 1, 100)).isEqualTo(new Prediction(1, 120, Basis.ERROR));
        assertThat(predictions.after(job, "e", 1, 50)).isEqualTo(new Prediction(0, 60, Basis.ATTEMPT));
    }

    @Test
    void other_attempts_do_not_spoil_what_is_hopeful_about_this_one() {
        predictions.learn(List.of(after("e", 1, 50, 10), after("e", 2, 1000, 0)));
        assertThat(predictions.after(job, "e", 1, 100)).isEqualTo(new Prediction(10, 50, Basis.ATTEMPT));
    }

    @Test
    void other_types_and_resources_say_nothing() {
        predictions.learn(List.of(
                new Evidence(new ErrorKey("send", null, "e", "E"), 1, 100, 1),
                new Evidence(new ErrorKey("call", "mail", "e", "E"), 1, 100, 1)));
        assertThat(predictions.after(job, "e", 1)).isNull();
    }
}
