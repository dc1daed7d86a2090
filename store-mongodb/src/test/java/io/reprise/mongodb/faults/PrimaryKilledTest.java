// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.mongodb.ReadPreference;
import io.reprise.mongodb.MongoServer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * On a replica set of three on this machine, named by {@code REPRISE_TEST_MONGODB_SET_URI}: its primary ends by SIGKILL, and
 * does not come back.
 */
@Timeout(1_200)
class PrimaryKilledTest {

    private static final String VARIABLE = "REPRISE_TEST_MONGODB_SET_URI";

    @TempDir
    private Path directory;

    @Test
    void workers_go_on_and_nothing_acknowledged_is_lost() throws Exception {
        String uri = System.getenv(VARIABLE);
        assumeTrue(uri != null, "No replica set of three on this machine is named in " + VARIABLE);
        try (MongoServer server = new MongoServer(uri);
                FaultRun run = new FaultRun(directory, server)) {
            run.startLoad();
            run.startWorker();
            run.startWorker();
            run.awaitProgress(10);
            long killed = kill(server);
            run.awaitProgress(10);
            assertThat(pid(server)).isNotEqualTo(killed);
            run.drainAndCheck("A primary killed");
        }
    }

    private static long kill(MongoServer server) throws Exception {
        String host = ask(server, "hello").getString("me");
        assertThat(host).as("the primary, which must be on this machine").startsWith("127.0.0.1:");
        long pid = pid(server);
        ProcessHandle process = ProcessHandle.of(pid).orElseThrow();
        process.destroyForcibly();
        process.onExit().get(5, TimeUnit.MINUTES);
        return pid;
    }

    private static long pid(MongoServer server) {
        return ((Number) ask(server, "serverStatus").get("pid")).longValue();
    }

    private static Document ask(MongoServer server, String command) {
        return server.client().getDatabase("admin").runCommand(new Document(command, 1), ReadPreference.primary());
    }
}
