// SPDX-License-Identifier: Apache-2.0
/**
 * The work of the elected worker for all workers: it takes over lost leases, ends jobs at their deadlines, fires schedules,
 * deletes finished jobs, and watches for alerts.
 */
@NullMarked
package io.reprise.internal.upkeep;

import org.jspecify.annotations.NullMarked;
