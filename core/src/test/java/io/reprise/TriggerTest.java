// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.AuditEntry;
import io.reprise.job.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A process that crashes while a person triggers a schedule. */
class TriggerTest {

    private static final Set<String> WRITES = Set.of("insert", "note", "trigger");

    /** Writes that are left until the store is out of reach. */
    private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

    private JobStore crashing(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (WRITES.contains(method.getName()) && left.getAndDecrement() <= 0) {
                        throw new StoreException("The store is out of reach", new IllegalStateException(), true);
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void no_job_of_a_trigger_is_without_its_audit_entry() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, options -> options, this::crashing)) {
            engine.reprise.schedule(Schedule.every("hourly", Duration.ofHours(1), WORK.job("x")));
            left.set(0);
            assertThatThrownBy(() -> engine.reprise.as("ada", null).trigger("hourly"))
                    .isInstanceOf(StoreException.class);
            left.set(1);
            engine.reprise.as("ada", null).trigger("hourly");
            left.set(Integer.MAX_VALUE);
            assertThat(engine.reprise.find(JobQuery.all()).items())
                    .extracting(job -> job.spec().schedule())
                    .containsExactly("hourly");
            assertThat(engine.reprise.audit(10)).extracting(AuditEntry::action).containsExactly("trigger-schedule");
        }
    }
}
