// SPDX-License-Identifier: Apache-2.0
/**
 * {@code reprise policy}: presets, preview and lint.
 */
@NullMarked
package io.reprise.cli.policy;

import org.jspecify.annotations.NullMarked;
