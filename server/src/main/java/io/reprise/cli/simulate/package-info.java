// SPDX-License-Identifier: Apache-2.0
/**
 * {@code reprise simulate}: experiments, chaos and recovery worlds.
 */
@NullMarked
package io.reprise.cli.simulate;

import org.jspecify.annotations.NullMarked;
