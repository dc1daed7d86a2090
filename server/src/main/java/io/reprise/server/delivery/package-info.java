// SPDX-License-Identifier: Apache-2.0
/**
 * Calls that the server makes to other servers: HTTP delivery as a job type, and the client that every outgoing call
 * uses. {@link io.reprise.server.delivery.OutboundClient} makes all connections, and only to addresses that
 * {@link io.reprise.server.delivery.OutboundGuard} has accepted.
 */
@NullMarked
package io.reprise.server.delivery;

import org.jspecify.annotations.NullMarked;
