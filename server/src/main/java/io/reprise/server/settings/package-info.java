// SPDX-License-Identifier: Apache-2.0
/** Settings of the fleet over HTTP. Invariant: nothing is stored that a worker could not read. */
@NullMarked
package io.reprise.server.settings;

import org.jspecify.annotations.NullMarked;
