// SPDX-License-Identifier: Apache-2.0
/**
 * Output: tables, colours, progress, JSON, and Ctrl-C.
 */
@NullMarked
package io.reprise.cli.terminal;

import org.jspecify.annotations.NullMarked;
