// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.job.StoredSchedule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.LostClaim;
import io.reprise.store.Settled;
import io.reprise.store.StoreException;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import io.reprise.testkit.fuzz.Fuzz;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A row that nobody understands is in nobody's way, and can be seen and ended. */
class DamagedRowTest {

    private static final JobSpec GOOD = JobSpec.builder("work", "1").build();
    private static final JobSpec RICH = JobSpec.builder("work", "{\"a\":1}")
            .resource("bank")
            .tags(Set.of("a", "b"))
            .key("k", KeyRule.KEEP)
            .idempotencyKey("i")
            .timeout(Duration.ofSeconds(5))
            .policy(RetryPolicy.unset().maxAttempts(3))
            .build();

    /** What a column may come to hold: by hand, by a newer version, by a bad disk. */
    private static final List<String> TEXTS = List.of(
            "''",
            "' '",
            "','",
            "',,'",
            "'a b'",
            "'\u202e'",
            "'\u0434'",
            "'null'",
            "'-'",
            "'x'||char(7)",
            "printf('%.2000c','x')");

    private static final List<String> COLUMNS = List.of(
            "type",
            "resource",
            "tags",
            "unique_key",
            "idempotency_key",
            "schedule",
            "payload",
            "error_type",
            "wait_reason");

    private static final List<String> NUMBERS =
            List.of("-9223372036854775808", "-1", "0", "1", "999", "9223372036854775807");

    private static final List<String> NUMERIC = List.of(
            "timeout_us", "delay_us", "asked_at", "last_delay_us", "attempts", "policy", "created_at", "first_due_at");

    @TempDir
    Path directory;

    @Test
    void a_damaged_job_is_claimed_shown_taken_over_and_ended_beside_the_others() {
        Path file = directory.resolve("jobs.db");
        int damaged = 0;
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            for (String column : COLUMNS) {
                for (String value : TEXTS) {
                    damaged += survives(store, sql -> Sqlite.execute(file, sql), column, value);
                }
            }
            for (String column : NUMERIC) {
                for (String value : NUMBERS) {
                    damaged += survives(store, sql -> Sqlite.execute(file, sql), column, value);
                }
            }
        }
        assertThat(damaged).isGreaterThan(30);
    }

    @Test
    void so_it_is_on_postgresql() {
        try (Postgres postgres = new Postgres();
                JdbcJobStore store = JdbcJobStore.postgresql(postgres.source())) {
            assertThat(survives(store, postgres::execute, "type", "'a b'")).isEqualTo(1);
            assertThat(survives(store, postgres::execute, "tags", "','")).isEqualTo(1);
            assertThat(survives(store, postgres::execute, "resource", "''")).isEqualTo(1);
            assertThat(survives(store, postgres::execute, "timeout_us", "1")).isEqualTo(1);
        }
    }

    /** Returns 1 if the job was really damaged, 0 if the database refused the value or the value was fine. */
    private static int survives(JdbcJobStore store, Consumer<String> sql, String column, String value) {
        JobId broken = store.insert(List.of(RICH)).get(0).id();
        JobId plain = store.insert(List.of(GOOD)).get(0).id();
        JobId good = store.insert(List.of(GOOD)).get(0).id();
        boolean written = tryUpdate(sql, column, value, broken);
        written |= tryUpdate(sql, column, value, plain);
        String what = column + " = " + value;

        List<Claim> claims =
                store.claim(TestClaims.upTo(10).lease(Duration.ZERO).build());
        assertThat(TestClaims.ids(claims)).as(what).contains(good);
        Set<JobId> damaged = claims.get(0).damaged().keySet();
        assertThat(damaged).as(what).doesNotContain(good);
        claims.get(0)
                .damaged()
                .values()
                .forEach(why -> assertThat(why).as(what).isNotBlank().hasSizeLessThan(1_000));
        assertThat(store.find(broken)).as(what).isPresent();
        assertThat(store.find(JobQuery.all()).items()).as(what).isNotEmpty();

        List<LostClaim> lost = store.takeOver("taker", TestClaims.LONG, 10);
        for (LostClaim each : lost) {
            Claim claim = each.claim();
            store.settle(
                    claim.jobs().stream()
                            .map(job -> TestSettlements.fail(claim, job))
                            .toList(),
                    List.of(claim.token()));
        }
        for (Job job : store.find(JobQuery.all()).items()) {
            assertThat(job.state().isTerminal()).as("%s of %s", what, job).isTrue();
            store.discard(job.id(), new AuditNote("test", null));
        }
        return written && !damaged.isEmpty() ? 1 : 0;
    }

    private static boolean tryUpdate(Consumer<String> sql, String column, String value, JobId id) {
        try {
            sql.accept("update reprise_job set " + column + " = " + value + " where id = " + id);
            return true;
        } catch (AssertionError | RuntimeException refused) {
            // The table's own checks are the first line of defence.
            return false;
        }
    }

    @Test
    void a_damaged_schedule_rests_and_the_others_fire() {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            store.putSchedule("bad", "every|PT5M|UTC|ONCE|false", RICH, Instant.EPOCH);
            store.putSchedule("good", "every|PT5M|UTC|ONCE|false", GOOD, Instant.EPOCH);
            Sqlite.execute(file, "update reprise_schedule set type = 'a b' where name = 'bad'");
            assertThat(store.schedules()).extracting(StoredSchedule::name).containsExactly("bad", "good");
            assertThat(store.schedules()).extracting(StoredSchedule::paused).containsExactly(true, false);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[1", "[null]", "[1,\"x\"]", "[[1]]", "what?"})
    void a_damaged_lease_holds_up_its_queue_only_until_somebody_sweeps(String ids) {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            JobId id = store.insert(List.of(GOOD)).get(0).id();
            Claim damaged = store.claim(TestClaims.upTo(1).build()).get(0);
            Claim sound = claimAnother(store);
            Sqlite.execute(file, "update reprise_lease set ids = '" + ids + "' where id = " + damaged.token());

            assertThat(store.takeOver("taker", TestClaims.LONG, 10)).isEmpty();
            Claim again = store.claim(TestClaims.upTo(10).build()).get(0);
            assertThat(TestClaims.ids(List.of(again))).containsExactly(id);
            assertThat(again.token()).isGreaterThan(damaged.token());
            assertThat(settle(store, damaged).stale()).containsExactly(id);
            assertThat(settle(store, sound).stale()).isEmpty();
            assertThat(settle(store, again).stale()).isEmpty();
        }
    }

    private static Claim claimAnother(JdbcJobStore store) {
        store.insert(List.of(GOOD));
        return store.claim(TestClaims.upTo(1).build()).get(0);
    }

    private static Settled settle(JdbcJobStore store, Claim claim) {
        return store.settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))), List.of(claim.token()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"reprise_job", "reprise_lease", "reprise_queue"})
    void a_missing_table_is_named(String table) {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            Sqlite.execute(file, "drop table " + table);
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> {
                        store.insert(List.of(GOOD));
                        store.claim(TestClaims.upTo(1).build());
                    })
                    .withMessageContaining(table)
                    .withMessageContaining(file.toString());
        }
    }

    @Test
    void a_cursor_is_read_or_refused() {
        try (JdbcJobStore store = JdbcJobStore.sqlite(directory.resolve("jobs.db"))) {
            store.prepare();
            Fuzz.texts(2_000, List.of("1", "123456789"), text -> {
                try {
                    store.find(JobQuery.all().after(text));
                } catch (IllegalArgumentException e) {
                    Fuzz.requireClear(e);
                }
            });
        }
    }
}
