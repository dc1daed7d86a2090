// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedDownstreamTest {

    private final World world = new World(1);
    private final List<String> answers = new ArrayList<>();

    private void call(SimulatedDownstream service, double at) {
        world.at(at, () -> service.call(this::answered));
    }

    private void answered(Exception error) {
        answers.add(error == null ? "fine" : error.getMessage());
    }

    @Test
    void a_limited_service_refuses_while_it_is_down() {
        LimitedService service = new LimitedService(world, 10, 5, 10);
        call(service, 4.9);
        call(service, 5);
        call(service, 9.9);
        call(service, 10);
        world.runUntil(20);
        assertThat(answers).containsExactly("fine", "Connection refused", "Connection refused", "fine");
    }

    @Test
    void a_limited_service_turns_away_what_is_too_much_for_one_second() {
        LimitedService service = new LimitedService(world, 2, 100, 101);
        for (double at : new double[] {0, 0.4, 0.8, 1.1, 1.2}) {
            call(service, at);
        }
        world.runUntil(20);
        assertThat(answers).containsExactly("fine", "fine", "Service Unavailable", "fine", "Service Unavailable");
    }

    @Test
    void a_server_answers_one_after_the_other() {
        FifoServer server = new FifoServer(world, 10, 1_000, 1_001, Double.POSITIVE_INFINITY);
        for (int i = 0; i < 2_000; i++) {
            call(server, 0);
        }
        world.runUntil(100);
        assertThat(answers.size()).isCloseTo(1_000, within(100));
    }

    @Test
    void a_server_that_stood_still_works_on_what_nobody_waits_for_unless_it_is_told() {
        for (double patience : new double[] {Double.POSITIVE_INFINITY, 1}) {
            answers.clear();
            World fresh = new World(1);
            FifoServer server = new FifoServer(fresh, 100, 10, 20, patience);
            fresh.at(11, () -> server.call(this::answered));
            fresh.runUntil(30);
            assertThat(answers).hasSize(patience > 1 ? 1 : 0);
        }
    }

    @Test
    void a_bucket_pays_until_it_is_empty_and_successes_fill_it() {
        ClientBudget bucket = ClientBudget.bucket(2, 0.5, 1);
        assertThat(List.of(bucket.pays(), bucket.pays(), bucket.pays())).containsExactly(true, true, false);
        bucket.succeeded();
        assertThat(bucket.pays()).isFalse();
        bucket.succeeded();
        assertThat(bucket.pays()).isTrue();
    }

    @Test
    void a_budget_of_sends_grows_with_what_is_sent_whether_it_succeeds_or_not() {
        ClientBudget budget = ClientBudget.ofSends(world, 0.5, 0);
        assertThat(budget.pays()).isFalse();
        budget.sent();
        budget.sent();
        assertThat(List.of(budget.pays(), budget.pays())).containsExactly(true, false);
        world.runUntil(11);
        assertThat(budget.pays()).isFalse();
    }

    @Test
    void a_retry_breaker_holds_retries_back_while_many_calls_fail() {
        ClientBudget breaker = ClientBudget.breaker(0.1);
        for (int i = 0; i < 9; i++) {
            breaker.succeeded();
        }
        breaker.failed();
        assertThat(breaker.pays()).isTrue();
        breaker.failed();
        assertThat(breaker.pays()).isFalse();
    }
}
