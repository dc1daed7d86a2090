// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.control.BreakerPhase;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import io.reprise.control.ForcedBy;
import io.reprise.internal.settle.EventRelay;
import io.reprise.internal.settle.Events;
import io.reprise.settings.FleetSettings;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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

    private void openDuringPause() {
        clock.advance(PAUSE);
        FleetControl.Changes changes = other.changes();
        changes.breaker(RESOURCE, (breaker, now) -> breaker.forced(true, new ForcedBy("bo", null), now), told -> {});
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
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, called, arguments) -> {
                    if (called.getName().equals(method) && !done[0]) {
                        done[0] = true;
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
