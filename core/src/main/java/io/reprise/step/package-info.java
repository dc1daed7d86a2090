// SPDX-License-Identifier: Apache-2.0
/**
 * Steps of a handler, and what is stored of them: {@link io.reprise.step.Step} names a step,
 * {@link io.reprise.step.StoredStep} is a row. Nothing here reads a store or a clock.
 */
@NullMarked
package io.reprise.step;

import org.jspecify.annotations.NullMarked;
