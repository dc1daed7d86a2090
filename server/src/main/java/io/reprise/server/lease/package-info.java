// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTP API of remote workers: leases and reports.
 */
@NullMarked
package io.reprise.server.lease;

import org.jspecify.annotations.NullMarked;
