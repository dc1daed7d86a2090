// SPDX-License-Identifier: Apache-2.0
/**
 * Real database servers for tests: {@link io.reprise.testkit.servers.PostgresServer} and {@link
 * io.reprise.testkit.servers.MariaDbServer}. They listen on loopback only.
 */
@NullMarked
package io.reprise.testkit.servers;

import org.jspecify.annotations.NullMarked;
