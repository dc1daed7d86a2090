// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.testing.InMemoryJobStore;
import java.util.List;
import org.junit.jupiter.api.Test;

class PredictionTenantTest {

    private static Job job(String queue) {
        InMemoryJobStore store = new InMemoryJobStore();
        return store.find(store.insert(List.of(
                                JobSpec.builder("resize", "{}").queue(queue).build()))
                        .get(0)
                        .id())
                .orElseThrow();
    }

    @Test
    void failures_in_queues_of_one_owner_do_not_speak_for_anothers_jobs() {
        PredictionTable predictions = new PredictionTable();
        ErrorKey evil = new ErrorKey("resize", ErrorKey.resource(job("evil/q")), "print", "Error");
        predictions.learn(List.of(new Evidence(evil, 1, 1_000, 0)));
        assertThat(predictions.after(job("evil/q"), "print", 1)).isNotNull();
        assertThat(predictions.after(job("victim/q"), "print", 1)).isNull();
        assertThat(predictions.after(job("q"), "print", 1)).isNull();
    }
}
