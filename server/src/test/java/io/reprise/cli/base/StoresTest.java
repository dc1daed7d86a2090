// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

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
}
