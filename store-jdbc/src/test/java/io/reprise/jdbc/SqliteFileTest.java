// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteFileTest {

    @Test
    void the_files_are_for_their_owner_only(@TempDir Path directory) throws IOException {
        try (JdbcJobStore store = JdbcJobStore.sqlite(directory.resolve("jobs.db"))) {
            store.prepare();
            store.insert(List.of(JobSpec.builder("a", "{}").build()));
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                            .as("%s", file)
                            .isEqualTo("rw-------");
                }
            }
        }
    }
}
