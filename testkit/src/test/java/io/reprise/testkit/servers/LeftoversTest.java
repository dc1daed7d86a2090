// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class LeftoversTest {

    @TempDir
    Path parent;

    private Path home(String name) throws IOException {
        return Files.createDirectories(parent.resolve(name));
    }

    private static String deadPid() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("true").start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        return Long.toString(process.pid());
    }

    @Test
    void what_a_dead_jvm_left_is_ended_and_deleted() throws Exception {
        Path home = home("server-1");
        Path program = Files.copy(Path.of("/bin/sleep"), home.resolve("sleep"));
        Process server = new ProcessBuilder(program.toString(), "600").start();
        try {
            Files.writeString(home.resolve("owner"), deadPid());
            Files.writeString(home.resolve("pid"), Long.toString(server.pid()));
            Leftovers.remove(parent, "server-*");
            assertThat(server.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(home).doesNotExist();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void what_belongs_to_others_stays() throws Exception {
        Path mine = home("server-1");
        Leftovers.own(mine);
        Path nobodys = home("server-2");
        Path elsewhere = home("other");
        Files.writeString(elsewhere.resolve("owner"), deadPid());
        Path reused = home("server-3");
        Files.writeString(reused.resolve("owner"), deadPid());
        Files.writeString(
                reused.resolve("pid"), Long.toString(ProcessHandle.current().pid()));
        Leftovers.remove(parent, "server-*");
        assertThat(mine).exists();
        assertThat(nobodys).exists();
        assertThat(elsewhere).exists();
        assertThat(reused).as("its number is another process's now").doesNotExist();
    }
}
