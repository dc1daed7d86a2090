// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import io.reprise.cli.base.QueueFixture.Way;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupTest {

    @TempDir
    Path directory;

    @Test
    void a_store_is_copied_while_a_server_works_on_it_and_comes_back() {
        Path copy = directory.resolve("copy.db");
        try (QueueFixture queue = new QueueFixture(directory)) {
            queue.run(Way.SERVER, "jobs", "enqueue", "fine", "--wait", "60s");
            Cli backup = Cli.run("backup", copy.toString(), "--store", queue.storeUrl);
            assertThat(backup.code()).as(backup.err()).isZero();
            assertThat(copy).exists();
            Cli again = Cli.run("backup", copy.toString(), "--store", queue.storeUrl);
            assertThat(again.code()).as("nothing is overwritten").isEqualTo(ExitCode.BAD_INPUT);
            assertThat(again.err()).contains("is there already");
            Cli nowhere = Cli.run("backup", directory.resolve("none/copy.db").toString(), "--store", queue.storeUrl);
            assertThat(nowhere.err()).contains("There is no directory");
            Cli busy = Cli.run("restore", "--store", queue.storeUrl);
            assertThat(busy.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(busy.err()).contains("test-server").contains("--force");
        }
        String url = "sqlite:" + copy;
        Cli restored = Cli.run("restore", "--force", "--store", url);
        assertThat(restored.code()).as(restored.err()).isZero();
        assertThat(Cli.run("jobs", "list", "--store", url).out()).contains("SUCCEEDED");
        Cli next = Cli.run("jobs", "enqueue", "fine", "--json", "--store", url);
        assertThat(next.json().path("id").stringValue()).hasSizeGreaterThanOrEqualTo(10);
    }

    @Test
    void what_is_not_there_is_neither_copied_nor_made() {
        Path none = directory.resolve("none.db");
        Cli backup = Cli.run("backup", directory.resolve("copy.db").toString(), "--store", "sqlite:" + none);
        assertThat(backup.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(Cli.run("restore", "--store", "sqlite:" + none).code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(Files.exists(none)).isFalse();
    }
}
