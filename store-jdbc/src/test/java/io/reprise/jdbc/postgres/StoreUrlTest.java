// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.reprise.jdbc.JdbcBackup;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.RepriseException;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

class StoreUrlTest {

    @TempDir
    Path directory;

    private static void works(String url) {
        try (JdbcJobStore store = JdbcJobStore.open(url)) {
            store.prepare();
            assertThat(store.queues()).isEmpty();
        }
    }

    @Test
    void a_url_names_an_sqlite_file() {
        works("sqlite:" + directory.resolve("a.db"));
        works("jdbc:sqlite:" + directory.resolve("b.db"));
        assertThat(directory.resolve("a.db")).satisfies(Files::exists);
        assertThat(directory.resolve("b.db")).satisfies(Files::exists);
    }

    @Test
    void a_url_without_a_driver_says_which_one_to_add_and_tells_no_password() {
        assertThatIllegalStateException()
                .isThrownBy(() -> JdbcJobStore.builder().mysql("jdbc:mysql://h/jobs?password=secret", null, null))
                .withMessageContaining("com.mysql:mysql-connector-j")
                .withMessageContaining("jdbc:mysql:…")
                .withMessageNotContaining("secret");
    }

    @Test
    void a_timeout_of_any_length_outside_its_bounds_is_refused() {
        for (Duration timeout :
                List.of(Duration.ofSeconds(-4_294_967_000L), Duration.ofSeconds(Long.MIN_VALUE), Duration.ZERO)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> JdbcJobStore.builder().timeout(timeout));
        }
    }

    @Test
    void a_backup_of_a_missing_file_fails_and_makes_neither_file() {
        Path file = directory.resolve("missing.db");
        Path copy = directory.resolve("copy.db");
        assertThatExceptionOfType(RepriseException.class)
                .isThrownBy(() -> JdbcBackup.sqlite(file, copy))
                .withMessageContaining("no such file");
        assertThat(file).doesNotExist();
        assertThat(copy).doesNotExist();
    }

    @Test
    void a_backup_that_fails_leaves_no_copy_so_that_it_can_be_tried_again() throws IOException {
        Path file = Files.writeString(directory.resolve("text.db"), "This is no SQLite file. ".repeat(100));
        Path copy = directory.resolve("copy.db");
        assertThatExceptionOfType(RepriseException.class).isThrownBy(() -> JdbcBackup.sqlite(file, copy));
        assertThat(copy).doesNotExist();
        Files.writeString(copy, "older");
        assertThatExceptionOfType(RepriseException.class).isThrownBy(() -> JdbcBackup.sqlite(file, copy));
        assertThat(copy).hasContent("older");
    }

    @Test
    void a_url_names_a_postgresql_database_with_or_without_login() {
        String jdbc = PostgresServer.shared().freshDatabaseUrl();
        works(jdbc);
        String plain = jdbc.substring("jdbc:".length()).replace("?user=postgres", "");
        works(plain.replace("//", "//postgres:secret@"));
    }

    @Test
    void a_url_names_several_hosts_of_which_one_is_the_primary() {
        int port = PostgresServer.shared().port();
        String jdbc = PostgresServer.shared().freshDatabaseUrl();
        // Nothing listens on the first.
        String hosts = jdbc.replace("127.0.0.1:" + port, "127.0.0.1:1,127.0.0.1:" + port) + "&targetServerType=primary";
        works(hosts);
        works(hosts.replace("jdbc:", "").replace("//", "//postgres:s%40cret@").replace("user=postgres&", ""));
    }

    @Test
    void what_the_url_sets_wins_over_the_stores_settings() {
        PGSimpleDataSource source = PostgresUrl.of("jdbc:postgresql://a%2Bb:c%3Ad@h1,h2:5433,h3/jobs?socketTimeout=3")
                .source(Duration.ofSeconds(9), false);
        assertThat(source.getSocketTimeout()).isEqualTo(3);
        assertThat(source.getConnectTimeout())
                .as("so that all three can be tried")
                .isEqualTo(3);
        assertThat(source.getApplicationName()).isEqualTo("reprise");
        assertThat(source.getPrepareThreshold()).isEqualTo(1);
        assertThat(source.getServerNames()).containsExactly("h1", "h2", "h3");
        assertThat(source.getPortNumbers()).containsExactly(5432, 5433, 5432);
        assertThat(source.getDatabaseName()).isEqualTo("jobs");
        assertThat(source.getUser()).isEqualTo("a+b");
        assertThat(source.getPassword()).isEqualTo("c:d");

        PGSimpleDataSource given = new PostgresUrl("jdbc:postgresql://h/jobs?user=eve&connectTimeout=1", "ada", null)
                .source(Duration.ofSeconds(30), true);
        assertThat(given.getUser()).isEqualTo("ada");
        assertThat(given.getConnectTimeout()).isEqualTo(1);
        assertThat(given.getSocketTimeout()).isEqualTo(40);
        assertThat(given.getPrepareThreshold()).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PostgresUrl.of("jdbc:postgresql://ada:secret@h:port/jobs")
                        .source(Duration.ofSeconds(1), false))
                .withMessageNotContaining("secret");
    }

    @Test
    void a_url_names_a_mariadb_database_with_or_without_login() {
        String jdbc = MariaDbServer.shared().freshDatabaseUrl();
        works(jdbc);
        String login =
                jdbc.substring("jdbc:".length()).replace("?user=root", "").replace("//", "//root:s%40cret@");
        works(login);
        // Nothing listens on the first.
        works(login.replace("@", "@127.0.0.1:1,"));
    }

    @Test
    void another_url_is_refused_without_showing_its_password() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcJobStore.open("oracle://ada:secret@host/jobs"))
                .withMessageContaining("sqlite:")
                .withMessageNotContaining("secret");
    }
}
