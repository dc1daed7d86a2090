// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.store.Cause;
import io.reprise.store.Evidence;
import io.reprise.testing.InMemoryJobStore;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutlookTenantTest {

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
        Outlook outlook = new Outlook();
        Cause evil = new Cause("resize", Cause.resource(job("evil/q")), "print", "Error");
        outlook.learn(List.of(new Evidence(evil, 1, 1_000, 0)));
        assertThat(outlook.after(job("evil/q"), "print", 1)).isNotNull();
        assertThat(outlook.after(job("victim/q"), "print", 1)).isNull();
        assertThat(outlook.after(job("q"), "print", 1)).isNull();
    }
}
