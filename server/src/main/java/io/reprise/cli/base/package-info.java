// SPDX-License-Identifier: Apache-2.0
/**
 * The parts that all commands share: the root command, exit codes, bad input, and the choice of a store. Only {@link
 * io.reprise.cli.base.Stores} knows which stores exist.
 */
@NullMarked
package io.reprise.cli.base;

import org.jspecify.annotations.NullMarked;
