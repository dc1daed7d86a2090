// SPDX-License-Identifier: Apache-2.0
/**
 * How commands reach a queue: a {@link io.reprise.server.client.Link} over HTTP to a server that runs, or to the same API in
 * this process on a store. Commands do not know which.
 */
@NullMarked
package io.reprise.server.client;

import org.jspecify.annotations.NullMarked;
