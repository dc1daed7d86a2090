// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Suspects;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many suspects a worker dares to hold. */
class LeaseBookTest {

    private final InMemoryJobStore store = new InMemoryJobStore(new ManualClock());
    private final LeaseBook book = new LeaseBook();
    private long token;

    /** As if these had been claimed as suspects that may run together with so many. */
    private List<Run> hold(int jobs, int together) {
        store.insert(Collections.nCopies(jobs, JobSpec.builder("work", "a").build()));
        List<Job> claimed = store.claim(new ClaimRequest(
                        "worker",
                        Duration.ofHours(1),
                        jobs,
                        List.of(new ClaimRequest.Demand("default", jobs)),
                        0,
                        false))
                .get(0)
                .jobs();
        Claim claim = new Claim(++token, "default", store.now(), together == 1, claimed);
        return book.add(claim.ofSuspects(together), 0, 0);
    }

    @Test
    void a_worker_begins_with_a_few_suspects() {
        assertThat(book.suspects()).isEqualTo(Suspects.upTo(LeaseBook.FIRST_SUSPECTS));
    }

    @Test
    void what_it_holds_counts() {
        hold(10, 1_000);
        hold(4, 0);
        assertThat(book.suspects()).isEqualTo(new Suspects(LeaseBook.FIRST_SUSPECTS - 10, 10));
    }

    @Test
    void each_suspect_that_ends_makes_room_for_one_more() {
        book.settled(hold(LeaseBook.FIRST_SUSPECTS, 1_000));
        assertThat(book.suspects()).isEqualTo(Suspects.upTo(2 * LeaseBook.FIRST_SUSPECTS));
        book.settled(hold(100, 0));
        assertThat(book.suspects()).isEqualTo(Suspects.upTo(2 * LeaseBook.FIRST_SUSPECTS));
    }

    @Test
    void the_strictest_of_those_it_holds_rules() {
        book.settled(hold(100, 1_000));
        hold(3, 1_000);
        hold(2, 8);
        assertThat(book.suspects()).isEqualTo(new Suspects(3, 5));
    }

    @Test
    void beside_one_that_must_be_alone_nothing_is_claimed() {
        hold(1, 1);
        assertThat(book.suspects().max()).isZero();
    }
}
