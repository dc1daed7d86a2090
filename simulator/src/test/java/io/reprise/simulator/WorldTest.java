// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.reprise.JobContext;
import io.reprise.insight.JobEvent;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorldTest {

    private final World world = new World(1);

    private static String trace(long seed) {
        World world = new World(seed);
        StringBuilder trace = new StringBuilder();
        LimitedService service = new LimitedService(world, 20, 10, 40);
        SimulatedFleet fleet = new SimulatedFleet(world, Candidate.REPRISE)
                .listener(event ->
                        trace.append(world.now()).append(' ').append(event).append('\n'))
                .with(3, 5, new SimulatedHandler(service, new Calls(world)));
        world.arrivals(10, 0, 90, fleet::enqueue);
        world.runUntil(120);
        return trace.toString();
    }

    @Test
    void the_same_seed_gives_the_same_trace_to_the_last_byte() {
        String trace = trace(7);
        assertThat(trace.lines()).hasSizeGreaterThan(2_000);
        assertThat(trace(7)).isEqualTo(trace);
    }

    @Test
    void another_seed_gives_another_trace() {
        assertThat(trace(7)).isNotEqualTo(trace(8));
    }

    @Test
    void things_happen_in_the_order_of_their_time_and_else_of_their_entry() {
        List<String> happened = new ArrayList<>();
        world.at(2, () -> happened.add("c"));
        world.at(1, () -> {
            happened.add("a");
            world.after(0, () -> happened.add("b"));
        });
        world.at(2, () -> happened.add("d"));
        world.runUntil(1.5);
        assertThat(happened).containsExactly("a", "b");
        world.runUntil(2);
        assertThat(happened).containsExactly("a", "b", "c", "d");
        assertThat(world.now()).isEqualTo(2);
    }

    @Test
    void arrivals_come_at_their_rate() {
        int[] count = {0};
        world.arrivals(20, 10, 1_010, () -> count[0]++);
        world.runUntil(10);
        assertThat(count[0]).isZero();
        world.runUntil(2_000);
        assertThat(count[0]).isCloseTo(20_000, within(500));
    }

    @Test
    void no_more_runs_at_once_than_there_are_places() {
        int[] running = {0, 0};
        SimulatedHandler handler = new SimulatedHandler(
                answer -> world.after(1, () -> answer.accept(null)), new SimulatedHandler.Observer() {
                    @Override
                    public void began(SimulatedWorker worker, double arrivedAt, JobContext job) {
                        running[1] = Math.max(running[1], ++running[0]);
                    }

                    @Override
                    public void ended(double arrivedAt, Throwable error) {
                        running[0]--;
                    }
                });
        SimulatedFleet fleet = new SimulatedFleet(world, Candidate.REPRISE).with(2, 3, handler);
        for (int i = 0; i < 20; i++) {
            fleet.enqueue();
        }
        world.runUntil(60);
        assertThat(running[1]).isEqualTo(6);
        assertThat(fleet.succeeded()).isEqualTo(20);
    }

    @Test
    void a_worker_that_dies_says_nothing_and_its_job_runs_elsewhere_after_the_lease() {
        List<JobEvent.Kind> events = new ArrayList<>();
        SimulatedFleet fleet = new SimulatedFleet(world, Candidate.REPRISE)
                .lease(Duration.ofSeconds(5))
                .listener(event -> events.add(event.kind()))
                .with(2, 1, answering(2));
        fleet.enqueue();
        world.runUntil(1);
        fleet.workers().get(0).die();
        world.runUntil(4);
        assertThat(events).containsExactly(JobEvent.Kind.ENQUEUED, JobEvent.Kind.STARTED);
        world.runUntil(20);
        assertThat(fleet.succeeded()).isEqualTo(1);
        assertThat(events).contains(JobEvent.Kind.LOST);
    }

    @Test
    void a_worker_that_stands_still_too_long_finds_its_job_taken() {
        List<JobEvent.Kind> events = new ArrayList<>();
        SimulatedFleet fleet = new SimulatedFleet(world, Candidate.REPRISE)
                .lease(Duration.ofSeconds(5))
                .listener(event -> events.add(event.kind()))
                .with(2, 1, answering(2));
        fleet.enqueue();
        world.runUntil(1);
        fleet.workers().get(0).pause(30);
        world.runUntil(60);
        assertThat(fleet.succeeded()).isEqualTo(1);
        assertThat(events).contains(JobEvent.Kind.LOST, JobEvent.Kind.STALE);
    }

    @Test
    void a_short_pause_only_delays() {
        SimulatedFleet fleet = new SimulatedFleet(world, Candidate.REPRISE).with(1, 1, answering(2));
        fleet.enqueue();
        world.runUntil(1);
        fleet.workers().get(0).pause(5);
        world.runUntil(5.9);
        assertThat(fleet.succeeded()).isZero();
        world.runUntil(6);
        assertThat(fleet.succeeded()).isEqualTo(1);
    }

    @Test
    void a_run_beyond_its_timeout_is_stopped_and_retried() {
        SimulatedFleet fleet = new SimulatedFleet(world, new Candidate("x", RetryPolicy.none(), false))
                .timeout(Duration.ofSeconds(1))
                .with(1, 1, answering(3));
        fleet.enqueue();
        world.runUntil(0.9);
        assertThat(fleet.dead()).isZero();
        world.runUntil(1.1);
        assertThat(fleet.dead()).isEqualTo(1);
    }

    private SimulatedHandler answering(double seconds) {
        return new SimulatedHandler(
                answer -> world.after(seconds, () -> answer.accept(null)), new SimulatedHandler.Observer() {});
    }
}
