// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import ch.qos.logback.classic.Level;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.testkit.faults.Work;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker in a process of its own, whose jobs call something that is down while there is a file. */
final class OutageWorker {

    static final JobType<String> CALL = JobType.of("call", String.class);

    private static final Duration TIME = Duration.ofMillis(2);

    private OutageWorker() {}

    /** Arguments: URL of the store, name, the file. Ends when its input does, that is with the test at the latest. */
    public static void main(String[] args) throws Exception {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        Path down = Path.of(args[2]);
        Reprise.builder()
                .name(args[1])
                .store(JdbcJobStore.open(args[0]))
                .codec(new Work.TextCodec())
                .lease(Duration.ofSeconds(5))
                .handle(CALL, (payload, job) -> {
                    if (Files.exists(down)) {
                        throw new ConnectException("refused");
                    }
                    LockSupport.parkNanos(TIME.toNanos());
                })
                .start();
        while (System.in.read() >= 0) {
            // Nobody writes; the end of the test ends this.
        }
        Runtime.getRuntime().halt(1);
    }
}
