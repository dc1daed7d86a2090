// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Pool;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.JobId;
import io.reprise.testkit.servers.PostgresServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transactions behind a pooler, which keeps no settings of a session and may send each transaction elsewhere. */
class PoolerTransactionTest {

    private final PostgresDatabase database = open();

    private static PostgresDatabase open() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(PostgresServer.shared().freshDatabase());
        HikariDataSource pool = new HikariDataSource(config);
        return new PostgresDatabase(Pool.own(pool), Pool.own(pool), 3_600, true);
    }

    @BeforeEach
    void create() {
        database.write(
                "create", Refusal.never(), session -> session.update("create table thing (id bigint primary key)"));
    }

    @AfterEach
    void close() {
        database.close();
    }

    /** Two transactions could be on two servers, of which the first was the old primary. */
    @Test
    void a_refusal_is_confirmed_in_the_transaction_that_refused() {
        AtomicLong transaction = new AtomicLong();
        assertThatThrownBy(() -> database.write("refuse", Refusal.never(), session -> {
                    session.update("insert into thing values (1)");
                    transaction.set(session.one("select txid_current()", SqlRow::number));
                    throw new DuplicateKeyException("key", new JobId(1));
                }))
                .isInstanceOf(DuplicateKeyException.class);
        assertThat(database.<String>read(
                        "look", session -> session.one("select txid_status(?)", SqlRow::text, transaction.get())))
                .isEqualTo("committed");
        assertThat(database.<Long>read("count", session -> session.one("select count(*) from thing", SqlRow::number)))
                .isZero();
    }

    @Test
    void what_a_frozen_process_has_locked_is_free_again_soon() throws Exception {
        database.write("insert", Refusal.never(), session -> session.update("insert into thing values (1)"));
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch thawed = new CountDownLatch(1);
        CompletableFuture<Integer> frozen =
                CompletableFuture.supplyAsync(() -> database.write("freeze", Refusal.<Integer>never(), session -> {
                    session.list("select id from thing for update", SqlRow::number);
                    locked.countDown();
                    await(thawed);
                    return session.update("delete from thing");
                }));
        locked.await();
        CompletableFuture<Integer> other = CompletableFuture.supplyAsync(
                () -> database.write("change", Refusal.never(), session -> session.update("update thing set id = 2")));
        assertThat(other.get(10, TimeUnit.MINUTES)).isEqualTo(1);
        thawed.countDown();
        assertThatThrownBy(frozen::join).hasMessageContaining("freeze");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
