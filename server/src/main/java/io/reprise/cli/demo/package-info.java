// SPDX-License-Identifier: Apache-2.0
/**
 * {@code reprise demo}: jobs that fail and recover, on one screen.
 */
@NullMarked
package io.reprise.cli.demo;

import org.jspecify.annotations.NullMarked;
