// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobContext;
import io.reprise.jdbc.sqlite.SqliteDatabase;
import io.reprise.job.JobId;
import io.reprise.step.Step;
import io.reprise.store.JobStore;
import io.reprise.testkit.steps.OrderWorker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Runs orders on a database. Executions of statements and commits count as statements. */
public final class JdbcOrderWorker extends OrderWorker {

    private static final String SQLITE = "jdbc:sqlite:";

    private JdbcOrderWorker() {}

    public static void main(String[] args) throws InterruptedException {
        new JdbcOrderWorker().work(args);
    }

    @Override
    protected JobStore open(String url) {
        if (url.startsWith(SQLITE)) {
            Path file = Path.of(url.substring(SQLITE.length()));
            return JdbcJobStore.builder()
                    .sqlite(new SqliteDatabase(file, Duration.ofSeconds(30), 2, () -> connect(url)));
        }
        DataSource source = (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, args) -> method.getName().equals("getConnection")
                        ? connect(url)
                        : method.getName().equals("toString") ? "counted connections" : null);
        return JdbcJobStore.builder().pooled(source);
    }

    @Override
    protected void outside(String url, JobId job, String step) throws SQLException {
        try (Connection connection = connect(url)) {
            effect(connection, job, step);
        }
    }

    @Override
    protected String inside(String url, JobContext job, String step) throws SQLException {
        try (Connection connection = connect(url)) {
            connection.setAutoCommit(false);
            String result = job.step(Step.of(step, String.class), JdbcTransaction.of(connection), () -> {
                effect(connection, job.id(), step);
                return step.substring(1);
            });
            connection.commit();
            return result;
        }
    }

    private static void effect(Connection connection, JobId job, String step) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into effect (job, step) values (?, ?)")) {
            insert.setLong(1, job.value());
            insert.setString(2, step);
            insert.executeUpdate();
        }
    }

    private static Connection connect(String url) throws SQLException {
        Connection real = DriverManager.getConnection(url);
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, args) -> {
                    Object answer = call(real, method, args, method.getName().equals("commit"));
                    return answer instanceof PreparedStatement statement ? counted(statement) : answer;
                });
    }

    private static PreparedStatement counted(PreparedStatement real) {
        return (PreparedStatement) Proxy.newProxyInstance(
                PreparedStatement.class.getClassLoader(),
                new Class<?>[] {PreparedStatement.class},
                (self, method, args) ->
                        call(real, method, args, method.getName().startsWith("execute")));
    }

    private static @Nullable Object call(Object real, Method method, @Nullable Object[] args, boolean counts)
            throws Throwable {
        if (counts) {
            beforeStatement();
        }
        try {
            return method.invoke(real, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
