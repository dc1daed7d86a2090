// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A worker in a process of its own, so that tests can kill it. Its jobs take a moment; those called poison kill it. */
public final class WorkerProcess {

    public static final JobType<String> WORK = JobType.of("work", String.class);
    static final String POISON = "poison";

    private WorkerProcess() {}

    /** Payloads that are texts already. */
    public static final class TextCodec implements PayloadCodec {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json);
        }
    }

    static Process start(String storeUrl) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(WorkerProcess.class.getName(), storeUrl));
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Reprise.builder()
                .store(JdbcJobStore.open(args[0]))
                .codec(new TextCodec())
                .concurrency(4)
                .poll(Duration.ofMillis(50))
                .handle(WORK, (payload, job) -> {
                    if (payload.equals(POISON)) {
                        Runtime.getRuntime().halt(137);
                    }
                    LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
                })
                .start();
        new CountDownLatch(1).await();
    }
}
