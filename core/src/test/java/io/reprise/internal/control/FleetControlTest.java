// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.control.BreakerPhase;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import io.reprise.control.ForcedBy;
import io.reprise.internal.settle.EventRelay;
import io.reprise.internal.settle.Events;
import io.reprise.settings.FleetSettings;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Control state that several workers change, one of which stands still between two of its calls of the store. */
class FleetControlTest {

    private static final String RESOURCE = "provider-a";
    private static final Duration PAUSE = Duration.ofMinutes(2);

    private final ManualClock clock = new ManualClock();
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final FleetControl other = control(store);

    @Test
    void a_row_that_changed_during_a_pause_is_read_and_changed_at_the_time_after_the_pause() {
        JobStore slow = beforeFirst("putControls", this::openDuringPause);
        FleetControl paused = control(slow);
        FleetControl.Changes changes = paused.changes();
        changes.breaker(RESOURCE, Breaker::heard, told -> {});
        changes.write();
        requireAsWritten(stored(), paused);
    }

    @Test
    void an_operation_of_a_person_that_meets_a_pause_happens_after_the_pause() {
        JobStore slow = beforeFirst("putControl", this::openDuringPause);
        FleetControl paused = control(slow);
        ForcedBy ada = new ForcedBy("ada", "maintenance");
        boolean done = paused.change(
                RESOURCE,
                (breaker, now) -> breaker.forced(true, ada, now),
                new FleetControl.Operator("force-open", new io.reprise.job.AuditNote("ada", "maintenance")));
        assertThat(done).isTrue();
        assertThat(stored().since()).isEqualTo(clock.instant());
    }

    /** What was counted for a change is given back if the change was not written, and only then. */
    @Test
    void each_change_ends_once_if_the_store_fails_after_the_first_bundle() {
        List<String> resources =
                IntStream.range(0, 1_500).mapToObj(n -> "r" + n).toList();
        int[] calls = {0};
        JobStore failing = before("putControls", () -> {
            calls[0]++;
            if (calls[0] == 1) {
                open("r7");
            } else if (calls[0] == 2) {
                throw new StoreException("gone", new IOException("gone"), true);
            }
        });
        Map<String, List<Boolean>> ends = new HashMap<>();
        FleetControl.Changes changes = control(failing).changes();
        for (String resource : resources) {
            changes.breaker(
                    resource,
                    Breaker::heard,
                    told -> ends.computeIfAbsent(resource, name -> new ArrayList<>())
                            .add(told.isPresent()));
        }
        assertThatExceptionOfType(StoreException.class).isThrownBy(changes::write);
        assertThat(ends).hasSize(1_500);
        assertThat(ends.values()).allMatch(all -> all.size() == 1);
        assertThat(resources.stream()
                        .filter(resource -> requireNonNull(ends.get(resource)).get(0)))
                .as("written: the first bundle without the one that another worker changed")
                .hasSize(999)
                .doesNotContain("r7");
    }

    private void openDuringPause() {
        clock.advance(PAUSE);
        open(RESOURCE);
    }

    private void open(String resource) {
        FleetControl.Changes changes = other.changes();
        changes.breaker(resource, (breaker, now) -> breaker.forced(true, new ForcedBy("bo", null), now), told -> {});
        changes.write();
    }

    private void requireAsWritten(Breaker stored, FleetControl paused) {
        Instant now = clock.instant();
        assertThat(stored.phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(stored.since()).as("since, as the other worker wrote it").isEqualTo(now);
        assertThat(stored.heard()).as("when a worker was last heard of").isEqualTo(now);
        assertThat(paused.breakers()).containsEntry(RESOURCE, stored);
    }

    private Breaker stored() {
        String name = ControlKey.breaker(RESOURCE).text();
        return Breaker.parse(store.controls(List.of(name)).get(0).state(), clock.instant());
    }

    private FleetControl control(JobStore of) {
        LiveSettings live = LiveSettings.fixed(FleetSettings.NONE);
        ControlConfig rules = new ControlConfig(ControlSettings.DEFAULT, List.of(), live);
        return new FleetControl(
                of, rules, new Events(List.of(), new EventRelay(new InMemoryJobStore(), "w")), clock::instant);
    }

    /** Returns the store, with an event before the first call of this method. */
    private JobStore beforeFirst(String method, Runnable event) {
        boolean[] done = {false};
        return before(method, () -> {
            if (!done[0]) {
                done[0] = true;
                event.run();
            }
        });
    }

    /** Returns the store, with an event before each call of this method. */
    private JobStore before(String method, Runnable event) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, called, arguments) -> {
                    if (called.getName().equals(method)) {
                        event.run();
                    }
                    try {
                        return called.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
