// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.ClientSession;
import io.reprise.job.Transaction;
import java.util.Objects;

/**
 * An open transaction of the caller. Reprise writes in its session, and never commits or aborts it. As thread-safe as
 * the session, which is for one thread at a time.
 *
 * <p>Another writer can make the transaction fail. Then the store throws the exception of the driver unchanged, so that
 * {@link ClientSession#withTransaction} runs the whole transaction again.
 *
 * <p>The store checks the session on each use, and throws IllegalArgumentException if no transaction is open on it.
 *
 * @since 0.1.0
 */
public final class MongoTransaction implements Transaction {

    private final ClientSession session;

    private MongoTransaction(ClientSession session) {
        this.session = session;
    }

    /**
     * Returns the transaction of a session. The session must come from the client of the store, or from another client
     * of the same deployment.
     *
     * @throws NullPointerException if {@code session} is null
     */
    public static MongoTransaction of(ClientSession session) {
        return new MongoTransaction(Objects.requireNonNull(session, "session"));
    }

    /**
     * Returns the session.
     *
     * @throws IllegalArgumentException if no transaction is open on it
     */
    ClientSession session() {
        if (!session.hasActiveTransaction()) {
            throw new IllegalArgumentException("The session has no open transaction to take part in: call"
                    + " startTransaction() or withTransaction() first, or enqueue without a transaction");
        }
        return session;
    }
}
