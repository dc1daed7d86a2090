// SPDX-License-Identifier: Apache-2.0
/**
 * Calls that the server makes to others: HTTP delivery as a job type, and what every outgoing call goes through. All
 * connections are made by {@link io.reprise.server.delivery.OutboundClient}, and only to addresses that
 * {@link io.reprise.server.delivery.OutboundGuard} has let pass.
 */
@NullMarked
package io.reprise.server.delivery;

import org.jspecify.annotations.NullMarked;
