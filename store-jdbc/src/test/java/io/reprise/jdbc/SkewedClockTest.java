// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.jdbc.WorkerProcess.WORK;
import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.job.JobId;
import io.reprise.job.StoredSchedule;
import io.reprise.store.JobStore;
import io.reprise.testkit.servers.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The database's clock rules. Here it is the database that is hours away from this process, which is what a worker with
 * a wrong clock sees.
 */
@Timeout(600)
class SkewedClockTest {

    private static String database(int hours) throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();
        try (JdbcJobStore store = JdbcJobStore.open(url)) {
            store.prepare();
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("create or replace function reprise_now() returns bigint language sql stable as"
                    + " 'select (extract(epoch from transaction_timestamp() + interval ''" + hours
                    + " hours'') * 1000000)::bigint'");
        }
        return url;
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void due_times_leases_and_schedules_follow_the_database(int hours) throws Exception {
        AtomicReference<Instant> ran = new AtomicReference<>();
        try (JdbcJobStore look = JdbcJobStore.open(database(hours));
                Reprise reprise = Reprise.builder()
                        .store(look)
                        .codec(new WorkerProcess.TextCodec())
                        .handle(WORK, (payload, job) -> ran.set(look.now()))
                        .start()) {
            Instant now = look.now();
            assertThat(Duration.between(Instant.now(), now).abs()).isGreaterThan(Duration.ofMinutes(50));
            JobId soon = reprise.enqueue(WORK.job("soon").after(Duration.ofMillis(300)));
            JobId at = reprise.enqueue(WORK.job("at").at(now.plusMillis(300)));
            JobId later = reprise.enqueue(WORK.job("later").at(now.plus(Duration.ofMinutes(30))));
            assertThat(reprise.await(at, Duration.ofMinutes(3)).succeeded()).isTrue();
            assertThat(reprise.await(soon, Duration.ofMinutes(3)).succeeded()).isTrue();
            Instant due = reprise.find(soon).orElseThrow().times().firstDueAt();
            assertThat(reprise.find(soon).orElseThrow().times().startedAt()).isAfterOrEqualTo(due);
            assertThat(reprise.find(later).orElseThrow().times().dueAt()).isEqualTo(now.plus(Duration.ofMinutes(30)));
            reprise.schedule(Schedule.every("tick", Duration.ofHours(2), WORK.job("a")));
            StoredSchedule schedule = reprise.schedules().get(0);
            assertThat(Duration.between(now, schedule.nextAt()))
                    .isBetween(Duration.ofHours(2), Duration.ofHours(2).plusMinutes(30));
        }
    }

    /** Counts calls of the store by their names. */
    private static JobStore counting(JobStore store, Map<String, Integer> calls) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } finally {
                        calls.merge(method.getName(), 1, Integer::sum);
                    }
                });
    }

    @Test
    void a_worker_whose_clock_is_an_hour_off_does_not_lose_its_lease() throws Exception {
        Map<String, Integer> calls = new ConcurrentHashMap<>();
        try (Reprise reprise = Reprise.builder()
                .store(counting(JdbcJobStore.open(database(1)), calls))
                .codec(new WorkerProcess.TextCodec())
                .handle(WORK, (payload, job) -> {
                    // Holds on until the lease has been renewed, and leases that have expired have been looked for
                    // since.
                    until(() -> calls.getOrDefault("renew", 0) > 0);
                    int looks = calls.getOrDefault("takeOver", 0);
                    until(() -> calls.getOrDefault("takeOver", 0) > looks + 1);
                })
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a"));
            assertThat(reprise.await(id, Duration.ofMinutes(3)).succeeded()).isTrue();
            assertThat(reprise.find(id).orElseThrow().counts().losses()).isZero();
        }
    }
}
