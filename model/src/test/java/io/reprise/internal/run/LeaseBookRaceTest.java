// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.Race;
import io.reprise.internal.Samples;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Fetcher, Committer and LeaseKeeper at one book. */
class LeaseBookRaceTest {

    private static final Claim FIRST = Samples.claim(1, 1, 2);
    private static final Claim SECOND = Samples.claim(2, 3);

    @Test
    void the_book_adds_up_while_leases_come_and_go() {
        Race.inManyOrders(() -> {
            LeaseBook book = new LeaseBook();
            List<Run> runs = book.add(FIRST, 0, 1);
            AtomicReference<List<Long>> closed = new AtomicReference<>(List.of());
            Race.together(
                    () -> book.add(SECOND, 0, 1),
                    () -> {
                        List<Run> one = runs.subList(0, 1);
                        Race.require(book.closedBy(one).isEmpty(), "a lease was closed with a run under it");
                        book.settled(one);
                        List<Run> other = runs.subList(1, 2);
                        closed.set(book.closedBy(other));
                        book.settled(other);
                    },
                    () -> book.leases().forEach(lease -> {
                        book.extend(List.of(lease), 2);
                        Race.require(book.runs(lease).size() <= 2, "a lease has runs of another");
                    }));
            Race.require(closed.get().equals(List.of(1L)), "closed " + closed.get());
            Race.require(book.open() == 1, "open " + book.open());
            Race.require(book.open(JobSpec.DEFAULT_QUEUE) == 1, "open in the queue");
            Race.require(book.leases().size() == 1, "leases " + book.leases().size());
        });
    }
}
