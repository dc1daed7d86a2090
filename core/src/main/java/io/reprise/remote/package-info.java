// SPDX-License-Identifier: Apache-2.0
/**
 * The plain data of workers that speak another language: the leases that they get and the reports that they send.
 * Start at {@link io.reprise.RemoteWorkers}.
 */
@NullMarked
package io.reprise.remote;

import org.jspecify.annotations.NullMarked;
