// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.testkit.MariaDbServer;
import io.reprise.testkit.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    void a_url_names_a_postgresql_database_with_or_without_login() {
        String jdbc = PostgresServer.shared().freshDatabaseUrl();
        works(jdbc);
        String plain = jdbc.substring("jdbc:".length()).replace("?user=postgres", "");
        works(plain.replace("//", "//postgres:secret@"));
    }

    @Test
    void a_url_names_a_mariadb_database_with_or_without_login() {
        String jdbc = MariaDbServer.shared().freshDatabaseUrl();
        works(jdbc);
        works(jdbc.substring("jdbc:".length()).replace("?user=root", "").replace("//", "//root:secret@"));
    }

    @Test
    void another_url_is_refused_without_showing_its_password() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcJobStore.open("oracle://ada:secret@host/jobs"))
                .withMessageContaining("sqlite:")
                .withMessageNotContaining("secret");
    }
}
