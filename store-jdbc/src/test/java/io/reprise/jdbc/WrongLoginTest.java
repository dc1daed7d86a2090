// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.store.StoreException;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wrong name or password is known at the first connection. The pool would repeat it for its whole timeout. */
@Timeout(120)
class WrongLoginTest {

    private static void refused(String url, String advice) {
        // Its timeout is longer than that of this test: a pool that repeats the login fails the test.
        try (JdbcJobStore store =
                JdbcJobStore.builder().timeout(Duration.ofHours(1)).open(url)) {
            ThrowingCallable prepare = store::prepare;
            assertThatThrownBy(prepare)
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining(advice)
                    .extracting(e -> ((StoreException) e).isTransient())
                    .isEqualTo(false);
        }
    }

    @Test
    void postgresql_says_that_the_database_does_not_exist() {
        int port = PostgresServer.shared().port();
        refused("postgres://postgres:x@127.0.0.1:" + port + "/no_such_database", "Create the database");
    }

    @Test
    void mariadb_says_that_the_database_does_not_exist() {
        String url = MariaDbServer.shared().freshDatabaseUrl();
        refused(url.replaceFirst("/test_[0-9]+", "/no_such_database"), "Create the database");
    }

    @Test
    void a_missing_driver_is_named() throws Exception {
        ClassLoader own = WrongLoginTest.class.getClassLoader();
        try (WithoutDriver loader = new WithoutDriver(own)) {
            Object builder = loader.loadClass("io.reprise.jdbc.JdbcJobStore")
                    .getMethod("builder")
                    .invoke(null);
            assertThatThrownBy(() -> builder.getClass()
                            .getMethod("open", String.class)
                            .invoke(builder, "postgresql://a:b@127.0.0.1/c"))
                    .hasRootCauseInstanceOf(ClassNotFoundException.class)
                    .cause()
                    .hasMessageContaining("org.postgresql:postgresql");
        }
    }
}
