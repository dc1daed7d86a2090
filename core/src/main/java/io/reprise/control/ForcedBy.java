// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import org.jspecify.annotations.Nullable;

/**
 * The person who keeps a breaker open or closed.
 *
 * @param by name of the person
 * @param why reason; null if none was given
 *
 * @since 0.1.0
 */
public record ForcedBy(String by, @Nullable String why) {}
