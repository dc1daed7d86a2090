// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a builder was told.
 *
 * @param timeout the longest a call of the database may take
 * @param keepAttempts how many attempts of a job are kept
 * @param prefix what the names of collections begin with
 * @param keys whether jobs may have unique and idempotency keys
 * @param deadLetters the collection that dead letters are moved to, if any
 */
record Settings(
        Duration timeout,
        int keepAttempts,
        String prefix,
        boolean keys,
        @Nullable String deadLetters) {}
