// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.server.config.Setting;
import io.reprise.server.config.Settings;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoresTest {

    @ParameterizedTest
    @CsvSource({
        "postgresql://reprise@db/jobs, true",
        "postgresql://db.example.org:5432/jobs, true",
        "postgres://db.example.org:5432/jobs, true",
        "'jdbc:postgresql://a@one,two/jobs', true",
        "postgresql://a:b@db/jobs?sslmode=verify-full, false",
        "postgresql://a@127.0.0.1:5432/jobs, false",
        "postgresql://localhost/jobs, false",
        "postgresql://a@[::1]:5432/jobs, false",
        "postgresql:///jobs, false",
        "sqlite:reprise.db, false",
        "mariadb://db/jobs, false"
    })
    void a_database_elsewhere_should_say_how_it_is_encrypted(String url, boolean inTheClear) {
        assertThat(Stores.isInTheClear(url)).isEqualTo(inTheClear);
        assertThatCode(() -> Stores.requireKnownKind(url)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "sqlite:jobs.db, tasks_dlq, store.dead-letters is for MongoDB only",
        "mongodb://localhost/jobs, no name, 'store.dead-letters: deadLettersIn takes a name'"
    })
    void a_collection_for_dead_letters_is_of_mongodb(String url, String collection, String message) {
        Settings settings =
                Settings.read(null, Map.of(), Map.of(Setting.STORE_URL, url, Setting.STORE_DEAD_LETTERS, collection));
        assertThatThrownBy(() -> Stores.open(settings))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(message);
    }
}
