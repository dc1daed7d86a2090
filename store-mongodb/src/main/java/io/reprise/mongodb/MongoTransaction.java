// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.ClientSession;
import io.reprise.Transaction;
import java.util.Objects;

/**
 * A caller's open transaction. Reprise writes in its session and never commits or aborts it. As thread-safe as the
 * session, which is for one thread at a time.
 *
 * <p>The transaction may fall victim to another writer. Then the driver's exception comes through as it is, so that
 * {@link ClientSession#withTransaction} runs the whole of it again.
 */
public final class MongoTransaction implements Transaction {

    private final ClientSession session;

    private MongoTransaction(ClientSession session) {
        this.session = session;
    }

    /** The transaction of a session of the same deployment that the store is in. Ask the store's own client for it. */
    public static MongoTransaction of(ClientSession session) {
        return new MongoTransaction(Objects.requireNonNull(session, "session"));
    }

    /**
     * The session as it is now.
     *
     * @throws IllegalArgumentException if no transaction was started on it
     */
    ClientSession session() {
        if (!session.hasActiveTransaction()) {
            throw new IllegalArgumentException("The session has no open transaction to take part in: call"
                    + " startTransaction() or withTransaction() first, or enqueue without a transaction");
        }
        return session;
    }
}
