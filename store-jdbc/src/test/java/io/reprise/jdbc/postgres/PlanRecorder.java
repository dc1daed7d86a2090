// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** Connections on which PostgreSQL reports the plan of each statement, as it was run, by its extension auto_explain. */
final class PlanRecorder {

    private static final String REPORT = """
            load 'auto_explain';
            set auto_explain.log_min_duration = 0;
            set auto_explain.log_level = 'notice';
            set auto_explain.log_analyze = on;
            set auto_explain.log_timing = off;
            set auto_explain.log_settings = on;
            set auto_explain.log_nested_statements = on
            """;

    private final Consumer<String> plans;

    PlanRecorder(Consumer<String> plans) {
        this.plans = plans;
    }

    DataSource around(DataSource source) {
        return proxy(DataSource.class, (method, args) -> {
            Object answer = call(source, method, args);
            return answer instanceof Connection connection ? watched(connection) : answer;
        });
    }

    private Connection watched(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(REPORT);
        }
        return proxy(Connection.class, (method, args) -> {
            Object answer = call(connection, method, args);
            return answer instanceof Statement statement ? watched(statement, method.getReturnType()) : answer;
        });
    }

    private Object watched(Statement statement, Class<?> type) {
        return proxy(type, (method, args) -> {
            boolean closes = method.getName().equals("close");
            if (closes) {
                report(statement);
            }
            try {
                return call(statement, method, args);
            } finally {
                if (!closes
                        && (method.getName().startsWith("execute")
                                || method.getName().startsWith("getMore"))) {
                    report(statement);
                }
            }
        });
    }

    private void report(Statement statement) throws SQLException {
        if (statement.isClosed()) {
            return;
        }
        for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
            plans.accept(String.valueOf(warning.getMessage()));
        }
        statement.clearWarnings();
    }

    private interface Action {
        Object call(Method method, Object[] args) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Action action) {
        return type.cast(Proxy.newProxyInstance(
                PlanRecorder.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
                    return action.call(method, args);
                }));
    }

    private static Object call(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
