// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoDatabase;
import io.reprise.job.Transaction;
import io.reprise.mongodb.MongoTransaction;
import org.jspecify.annotations.Nullable;
import org.springframework.core.InfrastructureProxy;
import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoDatabaseUtils;
import org.springframework.data.mongodb.SessionSynchronization;

/**
 * Finds the session that a transaction manager of Spring Data MongoDB has bound to the thread.
 *
 * @param factory the factory that the transaction manager uses
 */
record MongoSessions(MongoDatabaseFactory factory) {

    /** Returns the open transaction of the thread; null if there is none. */
    @Nullable
    Transaction joined() {
        Listener listener = new Listener(factory);
        MongoDatabaseUtils.getDatabase(listener, SessionSynchronization.ON_ACTUAL_TRANSACTION);
        ClientSession session = listener.session;
        return session != null && session.hasActiveTransaction() ? MongoTransaction.of(session) : null;
    }

    /**
     * Stands for the factory of the application. Spring Data keeps the session to itself, but it gives the session to
     * the factory that it is asked to get a database from.
     */
    private static final class Listener implements MongoDatabaseFactory, InfrastructureProxy {
        private final MongoDatabaseFactory factory;
        private @Nullable ClientSession session;

        Listener(MongoDatabaseFactory factory) {
            this.factory = factory;
        }

        @Override
        public Object getWrappedObject() {
            return factory;
        }

        @Override
        public MongoDatabaseFactory withSession(ClientSession bound) {
            session = bound;
            return this;
        }

        @Override
        public MongoDatabase getMongoDatabase() {
            return factory.getMongoDatabase();
        }

        @Override
        public MongoDatabase getMongoDatabase(String name) {
            return factory.getMongoDatabase(name);
        }

        @Override
        public PersistenceExceptionTranslator getExceptionTranslator() {
            return factory.getExceptionTranslator();
        }

        @Override
        public ClientSession getSession(ClientSessionOptions options) {
            return factory.getSession(options);
        }
    }
}
