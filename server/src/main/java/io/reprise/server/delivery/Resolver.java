// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Finds the addresses of a host. */
@FunctionalInterface
public interface Resolver {

    /** Uses the resolver of the machine. */
    Resolver SYSTEM = host -> List.of(InetAddress.getAllByName(host));

    List<InetAddress> resolve(String host) throws UnknownHostException;
}
