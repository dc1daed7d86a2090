// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;

/**
 * Limits the connections of one address, so that it cannot take those of all others. Trusted proxies
 * have no limit. Thread-safe.
 */
public final class AddressLimit implements Connection.Listener {

    private final int most;
    private final Predicate<String> trusted;
    private final Map<String, Integer> open = new ConcurrentHashMap<>();
    /** The address of each end point: a connection may be replaced by another on the same end point. */
    private final Map<EndPoint, String> ends = new ConcurrentHashMap<>();

    public AddressLimit(int most, Predicate<String> trusted) {
        this.most = most;
        this.trusted = trusted;
    }

    @Override
    public void onOpened(Connection connection) {
        EndPoint end = raw(connection);
        if (end.getRemoteSocketAddress() instanceof InetSocketAddress remote) {
            String address = remote.getAddress().getHostAddress();
            if (!trusted.test(address)
                    && ends.putIfAbsent(end, address) == null
                    && open.merge(address, 1, Integer::sum) > most) {
                end.close();
            }
        }
    }

    @Override
    public void onClosed(Connection connection) {
        EndPoint end = raw(connection);
        String address = end.isOpen() ? null : ends.remove(end);
        if (address != null) {
            open.computeIfPresent(address, (name, connections) -> connections == 1 ? null : connections - 1);
        }
    }

    private static EndPoint raw(Connection connection) {
        EndPoint end = connection.getEndPoint();
        while (end instanceof EndPoint.Wrapper wrapper) {
            end = wrapper.unwrap();
        }
        return end;
    }
}
