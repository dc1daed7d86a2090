// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Connections between two statements of which something happens. */
final class Interrupted {

    private Interrupted() {}

    /** Runs this once, before they prepare a statement with this text for the nth time. */
    static DataSource before(String text, int nth, Supplier<Connection> connections, Runnable action) {
        AtomicInteger met = new AtomicInteger();
        return proxy(DataSource.class, (source, method, args) -> {
            if (method.getName().equals("getLoginTimeout")) {
                return 0;
            }
            if (!method.getName().equals("getConnection")) {
                throw new UnsupportedOperationException(method.getName());
            }
            Connection connection = connections.get();
            return proxy(Connection.class, (proxy, called, values) -> {
                if (called.getName().equals("prepareStatement")
                        && values[0].toString().contains(text)
                        && met.incrementAndGet() == nth) {
                    action.run();
                }
                try {
                    return called.invoke(connection, values);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Interrupted.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
