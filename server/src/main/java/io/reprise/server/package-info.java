// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code reprise} program. {@link io.reprise.server.Main} starts it; each command is one class. Results go to
 * standard output and everything else to standard error. Only {@code Stores} knows which stores exist.
 */
@NullMarked
package io.reprise.server;

import org.jspecify.annotations.NullMarked;
