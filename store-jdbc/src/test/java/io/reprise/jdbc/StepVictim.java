// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.jdbc.sqlite.SqliteDatabase;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A worker in a process of its own that runs one job of ten steps and ends, as {@code kill -9} would end it, before or
 * after a chosen statement of that run. Arguments: URL, queue, number of the statement (0: none), "before" or "after".
 */
public final class StepVictim {

    static final JobType<String> ORDER = JobType.of("order", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(50)).maxAttempts(10));

    static final int KILLED = 137;
    static final int STEPS = 10;

    private static final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
    private static final AtomicInteger seen = new AtomicInteger();
    private static volatile boolean armed;
    private static volatile boolean before;

    private StepVictim() {}

    /** Payloads that are texts already. */
    static final class TextCodec implements PayloadCodec {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        String url = args[0];
        int at = Integer.parseInt(args[2]);
        if (at > 0) {
            left.set(at);
        }
        before = args[3].equals("before");
        RepriseBuilder builder = Reprise.builder()
                .store(open(url))
                .codec(new TextCodec())
                .concurrency(1)
                .lease(Duration.ofSeconds(1))
                .poll(Duration.ofMillis(50))
                .handle(ORDER, (payload, job) -> order(url, job));
        if (!args[1].isEmpty()) {
            builder.queues(Queue.of(args[1]));
        }
        Reprise reprise = builder.start();
        if (args.length > 4) {
            reprise.await(JobId.parse(args[4]), Duration.ofMinutes(5));
            // The number of statements, for the test that chooses among them.
            Runtime.getRuntime().halt(seen.get() % KILLED);
        }
        new CountDownLatch(1).await();
    }

    /** Odd steps have an effect outside of the job's database transaction, even ones inside. */
    static void order(String url, JobContext job) throws SQLException {
        armed = true;
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < STEPS; i++) {
            String name = "s" + i;
            if (i == STEPS / 2) {
                job.sleep("pause", Duration.ZERO);
            }
            if (i % 2 == 1) {
                result.append(job.step(Step.of(name, String.class), () -> {
                    try (Connection connection = DriverManager.getConnection(url)) {
                        effect(connection, job.id(), name);
                    }
                    return name.substring(1);
                }));
            } else {
                try (Connection connection = DriverManager.getConnection(url)) {
                    Connection counting = statements(connection);
                    counting.setAutoCommit(false);
                    result.append(job.step(Step.of(name, String.class), JdbcTransaction.of(counting), () -> {
                        effect(counting, job.id(), name);
                        return name.substring(1);
                    }));
                    counting.commit();
                }
            }
        }
        job.result(result.toString());
    }

    private static void effect(Connection connection, JobId job, String step) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into effect (job, step) values (?, ?)")) {
            insert.setLong(1, job.value());
            insert.setString(2, step);
            insert.executeUpdate();
        }
    }

    private static JdbcJobStore open(String url) {
        if (url.startsWith("jdbc:sqlite:")) {
            Path file = Path.of(url.substring("jdbc:sqlite:".length()));
            return JdbcJobStore.builder()
                    .sqlite(new SqliteDatabase(
                            file, Duration.ofSeconds(30), 2, () -> statements(DriverManager.getConnection(url))));
        }
        DataSource source = (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, args) -> method.getName().equals("getConnection")
                        ? statements(DriverManager.getConnection(url))
                        : method.getName().equals("toString") ? "counted connections" : null);
        return JdbcJobStore.builder().pooled(source);
    }

    /** Ends the process around the chosen statement of a run: those of the handler's threads and of the committer. */
    private static Connection statements(Connection real) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, args) -> {
                    boolean counts = method.getName().equals("commit");
                    Object answer = around(counts, () -> method.invoke(real, args));
                    return answer instanceof PreparedStatement statement ? executions(statement) : answer;
                });
    }

    private static PreparedStatement executions(PreparedStatement real) {
        return (PreparedStatement) Proxy.newProxyInstance(
                PreparedStatement.class.getClassLoader(),
                new Class<?>[] {PreparedStatement.class},
                (self, method, args) ->
                        around(method.getName().startsWith("execute"), () -> method.invoke(real, args)));
    }

    private interface Invocation {
        @Nullable
        Object invoke() throws ReflectiveOperationException;
    }

    private static @Nullable Object around(boolean counts, Invocation call) throws Throwable {
        String thread = Thread.currentThread().getName();
        boolean ofRun = armed && counts && (thread.contains("reprise-job") || thread.contains("committer"));
        if (ofRun) {
            seen.incrementAndGet();
        }
        boolean ends = ofRun && left.decrementAndGet() == 0;
        if (ends && before) {
            Runtime.getRuntime().halt(KILLED);
        }
        try {
            Object answer = call.invoke();
            if (ends) {
                Runtime.getRuntime().halt(KILLED);
            }
            return answer;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
