// SPDX-License-Identifier: Apache-2.0
/**
 * Payloads and results as JSON by Jackson 2, for applications that have no Jackson 3. It writes and reads the same text
 * as the codec for Jackson 3, so that processes with either can share a store.
 */
@NullMarked
package io.reprise.jackson2;

import org.jspecify.annotations.NullMarked;
