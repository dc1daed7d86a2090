// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.Inserted;
import io.reprise.store.JobStore;
import io.reprise.store.LostClaim;
import io.reprise.store.Note;
import io.reprise.store.QueueState;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The methods that a store's test class supplies, and those that every contract uses. */
public interface StoreFixture {

    Note NOTE = new Note("ada", "because");

    /** The store under test: prepared, empty when a test begins, the same object until the test ends. */
    JobStore store();

    /** Called between two checks of a condition. A store whose clock does not move by itself moves it here. */
    default void tick() {
        LockSupport.parkNanos(1_000_000);
    }

    default void await(BooleanSupplier condition) {
        for (int looks = 0; !condition.getAsBoolean(); looks++) {
            assertThat(looks).as("looks at a condition that never came true").isLessThan(100_000);
            tick();
        }
    }

    /** Returns when the store's clock shows a later time than now. */
    default void awaitNextInstant() {
        Instant before = store().now();
        await(() -> store().now().isAfter(before));
    }

    default JobId add(JobSpec.Builder spec) {
        return add(List.of(spec.build())).get(0);
    }

    default List<JobId> add(List<JobSpec> specs) {
        return store().insert(specs).stream().map(Inserted::id).toList();
    }

    default Inserted insert(JobSpec.Builder spec) {
        return store().insert(List.of(spec.build())).get(0);
    }

    default Job read(JobId id) {
        return store().find(id).orElseThrow(() -> new AssertionError("job " + id + " is gone"));
    }

    default List<Claim> claim(Claims request) {
        return store().claim(request.build());
    }

    /** Claims the first job of the default queue, under a long lease. */
    default Claim claimOne() {
        return claimOne(Claims.upTo(1));
    }

    default Claim claimOne(Claims request) {
        List<Claim> claims = claim(request);
        assertThat(claims).as("claims").hasSize(1);
        return claims.get(0);
    }

    default Settled settle(Settlement... settlements) {
        return store().settle(Arrays.asList(settlements), List.of());
    }

    default void succeed(Claim claim) {
        for (Job job : claim.jobs()) {
            assertThat(settle(Settlements.success(claim, job)).stale()).isEmpty();
        }
    }

    /** Creates a dead letter. */
    default JobId deadLetter(JobSpec.Builder spec) {
        JobId id = add(spec);
        Claim claim = claimOne(Claims.upTo(1).from(spec.build().queue()));
        settle(Settlements.fail(claim, only(claim)));
        assertThat(read(id).state()).isEqualTo(JobState.FAILED);
        return id;
    }

    /** Claims under a lease that ends at once, like a worker that then dies. */
    default Claim claimAndDie(String worker, int max) {
        return claimOne(Claims.upTo(max).by(worker).lease(Duration.ZERO));
    }

    /** Takes over the one expired lease as soon as the store's clock allows it. */
    default LostClaim takeOver(String taker, Duration lease) {
        List<LostClaim> taken = new ArrayList<>();
        await(() -> taken.addAll(store().takeOver(taker, lease, 10)));
        assertThat(taken).as("leases taken over").hasSize(1);
        return taken.get(0);
    }

    default LostClaim takeOver(String taker) {
        return takeOver(taker, Claims.LONG);
    }

    default Job only(Claim claim) {
        assertThat(claim.jobs()).as("jobs of the claim").hasSize(1);
        return claim.jobs().get(0);
    }

    default QueueState queue(String name) {
        return store().queues().stream()
                .filter(queue -> queue.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no queue " + name));
    }

    /** Returns the number of jobs of a queue in a state; 0 if there is no such queue. */
    default long count(String queue, JobState state) {
        return store().queues().stream()
                .filter(each -> each.name().equals(queue))
                .mapToLong(each -> each.count(state))
                .sum();
    }
}
