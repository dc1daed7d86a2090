// SPDX-License-Identifier: Apache-2.0
/**
 * Payloads and results as JSON by Jackson. {@link io.reprise.jackson.JacksonCodec} is found by service loader; create
 * one with your own mapper if the defaults do not fit. No class name from stored JSON is ever loaded.
 */
@NullMarked
package io.reprise.jackson;

import org.jspecify.annotations.NullMarked;
