// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.retry.Decision.Fail;
import io.reprise.retry.Decision.Release;
import io.reprise.retry.Decision.Retry;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class DecideTest {

    private final RandomGenerator random = new SplittableRandom(1);
    private final RetryPolicy policy =
            RetryPolicy.exponential(ofSeconds(10)).jitter(Jitter.none()).maxAttempts(3);
    private final Failure flaky = Failure.of(new IllegalStateException("flaky"));
    private final Failure lost = Failure.of(FailureClass.LOST, "lease", "lost");

    @Test
    void a_failure_is_retried_until_attempts_are_spent() {
        assertThat(policy.decide(flaky, attempts(0), random))
                .isEqualTo(new Retry(ofSeconds(10), ofSeconds(10), FailureClass.TRANSIENT, "unclassified"));
        assertThat(policy.decide(flaky, attempts(1), random))
                .isEqualTo(new Retry(ofSeconds(20), ofSeconds(20), FailureClass.TRANSIENT, "unclassified"));
        assertThat(policy.decide(flaky, attempts(2), random))
                .isEqualTo(new Fail(FailReason.EXHAUSTED, FailureClass.TRANSIENT, "unclassified", true));
    }

    @Test
    void an_unlimited_policy_never_exhausts() {
        RetryPolicy endless = policy.unlimited().noDeadline();
        assertThat(endless.decide(flaky, attempts(Integer.MAX_VALUE), random)).isInstanceOf(Retry.class);
    }

    @Test
    void a_permanent_failure_ends_the_job_at_once() {
        assertThat(policy.decide(Failure.of(new IllegalArgumentException("bad")), attempts(0), random))
                .isEqualTo(new Fail(FailReason.PERMANENT, FailureClass.PERMANENT, "programming-error", true));
    }

    @Test
    void an_unreadable_payload_ends_the_job() {
        assertThat(policy.decide(given(FailureClass.UNREADABLE), attempts(0), random))
                .isEqualTo(new Fail(FailReason.UNREADABLE, FailureClass.UNREADABLE, "unreadable", true));
    }

    @Test
    void an_interruption_spends_nothing_even_on_the_last_attempt() {
        Decision decision = policy.decide(given(FailureClass.INTERRUPTED), attempts(2), random);
        assertThat(decision).isEqualTo(new Release(ZERO, FailureClass.INTERRUPTED, "interrupted"));
        assertThat(decision.counts()).isFalse();
    }

    @Test
    void a_timeout_is_retried_or_not_as_the_policy_says() {
        Failure timeout = given(FailureClass.TIMEOUT);
        assertThat(policy.decide(timeout, attempts(0), random))
                .isEqualTo(new Retry(ofSeconds(10), ofSeconds(10), FailureClass.TIMEOUT, "timeout"));
        assertThat(policy.retryTimeouts(false).decide(timeout, attempts(0), random))
                .isEqualTo(new Fail(FailReason.PERMANENT, FailureClass.TIMEOUT, "timeout", true));
    }

    @Test
    void a_retry_that_would_start_at_the_deadline_or_later_fails_now() {
        RetryPolicy bounded = policy.deadline(ofMinutes(1));
        assertThat(bounded.decide(flaky, elapsed(ofSeconds(50).minusNanos(1)), random))
                .isInstanceOf(Retry.class);
        assertThat(bounded.decide(flaky, elapsed(ofSeconds(50)), random))
                .isEqualTo(new Fail(FailReason.DEADLINE, FailureClass.TRANSIENT, "unclassified", true));
    }

    @Test
    void a_clock_that_is_far_off_does_not_break_a_decision() {
        assertThat(policy.decide(flaky, elapsed(ofSeconds(Long.MIN_VALUE)), random))
                .isInstanceOf(Retry.class);
        assertThat(policy.decide(flaky, elapsed(ofSeconds(Long.MAX_VALUE)), random))
                .isInstanceOf(Fail.class);
    }

    @Test
    void retry_after_lengthens_the_delay_up_to_its_cap_and_never_shortens_it() {
        assertThat(delayFor(ofSeconds(30))).isEqualTo(ofSeconds(30));
        assertThat(delayFor(ofSeconds(5))).isEqualTo(ofSeconds(10));
        assertThat(delayFor(ofHours(9))).isEqualTo(ofMinutes(2));
        assertThat(delayFor(ofSeconds(-5))).isEqualTo(ofSeconds(10));
        assertThat(delayFor(ofSeconds(Long.MAX_VALUE))).isEqualTo(ofMinutes(2));
    }

    @Test
    void a_lost_lease_spends_no_attempt_by_default_and_waits_longer_each_time() {
        assertThat(policy.decideLoss(lost, losses(0), true, random))
                .isEqualTo(new Release(ofSeconds(10), FailureClass.LOST, "lost"));
        assertThat(policy.decideLoss(lost, losses(3), true, random))
                .isEqualTo(new Release(ofSeconds(80), FailureClass.LOST, "lost"));
    }

    @Test
    void a_job_lost_too_often_is_quarantined_only_if_it_ran_alone() {
        assertThat(policy.decideLoss(lost, losses(4), true, random))
                .isEqualTo(new Fail(FailReason.QUARANTINED, FailureClass.LOST, "lost", false));
        assertThat(policy.decideLoss(lost, losses(4), false, random)).isInstanceOf(Release.class);
        assertThat(policy.decideLoss(lost, losses(400), false, random)).isInstanceOf(Release.class);
        assertThat(policy.decideLoss(lost, losses(400), true, random)).isInstanceOf(Fail.class);
    }

    @Test
    void a_loss_decided_like_any_failure_is_taken_to_have_been_alone() {
        assertThat(policy.decide(lost, losses(4), random)).isInstanceOf(Fail.class);
        assertThat(policy.decide(lost, losses(0), random)).isInstanceOf(Release.class);
    }

    @Test
    void counted_losses_spend_attempts() {
        RetryPolicy counting = policy.losses(new LossRule(true, true, 10));
        assertThat(counting.decideLoss(lost, attempts(1), false, random))
                .isEqualTo(new Retry(ofSeconds(20), ofSeconds(20), FailureClass.LOST, "lost"));
        assertThat(counting.decideLoss(lost, attempts(2), false, random))
                .isEqualTo(new Fail(FailReason.EXHAUSTED, FailureClass.LOST, "lost", true));
    }

    @Test
    void losses_without_backoff_come_back_at_once() {
        RetryPolicy eager = policy.losses(new LossRule(false, false, 10));
        assertThat(eager.decideLoss(lost, losses(3), true, random))
                .isEqualTo(new Release(ZERO, FailureClass.LOST, "lost"));
    }

    @Test
    void a_loss_respects_the_deadline() {
        assertThat(policy.deadline(ofMinutes(1)).decideLoss(lost, elapsed(ofSeconds(55)), true, random))
                .isEqualTo(new Fail(FailReason.DEADLINE, FailureClass.LOST, "lost", false));
    }

    @Test
    void a_snooze_is_no_failure() {
        Decision snooze = new Decision.Snooze(ofSeconds(5));
        assertThat(snooze.failureClass()).isNull();
        assertThat(snooze.counts()).isFalse();
        assertThat(snooze.rule()).isEqualTo("handler");
    }

    private Duration delayFor(Duration retryAfter) {
        Failure throttled = Failure.reported("E", null, 429, "slow down", retryAfter);
        RetryPolicy capped = policy.retryAfterCap(ofMinutes(2));
        return ((Retry) capped.decide(throttled, attempts(0), random)).delay();
    }

    private static Failure given(FailureClass failureClass) {
        return Failure.of(failureClass, "type", "message");
    }

    private static AttemptHistory attempts(int attempts) {
        return new AttemptHistory(attempts, 0, ZERO, null);
    }

    private static AttemptHistory losses(int losses) {
        return new AttemptHistory(0, losses, ZERO, null);
    }

    private static AttemptHistory elapsed(Duration elapsed) {
        return new AttemptHistory(0, 0, elapsed, null);
    }
}
