// SPDX-License-Identifier: Apache-2.0
/**
 * Real faults for tests of real stores: processes that are killed and paused, connections that stall and break, disks
 * that are full. Nothing here needs more than a plain Linux machine; classes that need the superuser say so.
 */
@NullMarked
package io.reprise.testkit.faults;

import org.jspecify.annotations.NullMarked;
