// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Leadership, and wake-ups. */
public interface RoleContract extends StoreFixture {

    @Test
    default void a_role_has_one_holder_for_its_term() {
        assertThat(store().lead("sweeper", "worker-1", TestClaims.LONG)).isTrue();
        assertThat(store().lead("sweeper", "worker-2", TestClaims.LONG)).isFalse();
        assertThat(store().lead("sweeper", "worker-1", TestClaims.LONG)).isTrue();
        assertThat(store().lead("pruner", "worker-2", TestClaims.LONG)).isTrue();
    }

    @Test
    default void a_role_is_free_when_its_term_has_ended() {
        assertThat(store().lead("sweeper", "worker-1", Duration.ZERO)).isTrue();
        await(() -> store().lead("sweeper", "worker-2", TestClaims.LONG));
        assertThat(store().lead("sweeper", "worker-1", TestClaims.LONG)).isFalse();
    }

    @Test
    default void resigning_frees_a_role_at_once() {
        store().lead("sweeper", "worker-1", TestClaims.LONG);
        store().resign("sweeper", "worker-1");
        assertThat(store().lead("sweeper", "worker-2", TestClaims.LONG)).isTrue();
    }

    @Test
    default void nobody_resigns_for_another() {
        store().lead("sweeper", "worker-1", TestClaims.LONG);
        store().resign("sweeper", "worker-2");
        store().resign("never-held", "worker-2");
        assertThat(store().lead("sweeper", "worker-2", TestClaims.LONG)).isFalse();
    }

    @Test
    default void listening_for_work_disturbs_nothing() {
        AtomicInteger hints = new AtomicInteger();
        store().onWake(hints::incrementAndGet);
        add(TestJobs.spec("work"));
        succeed(claimOne());
        assertThat(hints.get()).isNotNegative();
    }

    @Test
    default void a_listener_that_throws_harms_neither_the_caller_nor_the_others() {
        AtomicInteger heard = new AtomicInteger();
        Runnable broken = () -> {
            throw new IllegalStateException("broken listener");
        };
        store().onWake(broken);
        store().onWake(heard::incrementAndGet);
        try {
            add(TestJobs.spec("work"));
            await(() -> heard.get() > 0);
        } finally {
            store().offWake(broken);
        }
    }

    @Test
    default void everybody_who_listens_here_hears_of_work_until_he_no_longer_wants_to() {
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        Runnable listener = first::incrementAndGet;
        store().onWake(listener);
        store().onWake(second::incrementAndGet);
        add(TestJobs.spec("work"));
        await(() -> first.get() > 0 && second.get() > 0);
        store().offWake(listener);
        store().offWake(() -> {});
        int heard = first.get();
        for (int i = 0; i < 5; i++) {
            int before = second.get();
            add(TestJobs.spec("work"));
            await(() -> second.get() > before);
        }
        // A wake-up that was under way may still arrive.
        assertThat(first.get()).isLessThanOrEqualTo(heard + 1);
    }

    @Test
    default void a_caller_can_wake_those_who_listen() {
        AtomicInteger heard = new AtomicInteger();
        store().onWake(heard::incrementAndGet);
        int before = heard.get();
        store().wake();
        await(() -> heard.get() > before);
    }

    @Test
    default void preparing_again_keeps_everything() {
        add(TestJobs.spec("work"));
        store().prepare();
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10)))).hasSize(1);
    }

    @Test
    default void the_clock_of_the_store_does_not_go_back() {
        var before = store().now();
        add(TestJobs.spec("work"));
        assertThat(store().now()).isAfterOrEqualTo(before);
    }
}
