// SPDX-License-Identifier: Apache-2.0
/**
 * Sockets and certificates: limits per address, trusted proxies, TLS files, and the settings of the HTTP layer.
 */
@NullMarked
package io.reprise.server.net;

import org.jspecify.annotations.NullMarked;
