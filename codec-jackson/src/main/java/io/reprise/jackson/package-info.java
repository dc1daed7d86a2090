// SPDX-License-Identifier: Apache-2.0
/**
 * Payloads and results as JSON by Jackson. A service loader finds {@link io.reprise.jackson.JacksonCodec}; create one
 * with your own mapper if the defaults do not fit. A class name in stored JSON is never loaded by default.
 */
@NullMarked
package io.reprise.jackson;

import org.jspecify.annotations.NullMarked;
