// SPDX-License-Identifier: Apache-2.0
/**
 * One feature per main. Each runs to its end by itself within seconds, says what it shows, and fails if what it claims
 * did not happen. Begin with {@link io.reprise.examples.FirstJob}.
 */
@NullMarked
package io.reprise.examples;

import org.jspecify.annotations.NullMarked;
