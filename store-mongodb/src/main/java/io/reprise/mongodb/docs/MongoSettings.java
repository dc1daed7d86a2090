// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a builder.
 *
 * @param timeout the longest time that a call of the database may take
 * @param keepAttempts how many attempts of a job are kept
 * @param prefix prefix of the names of collections
 * @param keys whether jobs may have unique and idempotency keys
 * @param readableIndexes whether the fields for people have indexes
 * @param deadLetters the collection that dead letters are moved to, if any
 */
public record MongoSettings(
        Duration timeout,
        int keepAttempts,
        String prefix,
        boolean keys,
        boolean readableIndexes,
        @Nullable String deadLetters) {}
