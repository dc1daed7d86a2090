// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code reprise} program. {@link io.reprise.cli.Main} starts it; each command is one class. Results go to
 * standard output and everything else to standard error. {@link io.reprise.cli.Commands} lists them.
 */
@NullMarked
package io.reprise.cli;

import org.jspecify.annotations.NullMarked;
