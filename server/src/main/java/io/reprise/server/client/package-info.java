// SPDX-License-Identifier: Apache-2.0
/**
 * How commands reach a queue: through a {@link io.reprise.server.client.Link} over HTTP to a running server, or to the
 * API in this process on a store. Commands do not know which.
 */
@NullMarked
package io.reprise.server.client;

import org.jspecify.annotations.NullMarked;
