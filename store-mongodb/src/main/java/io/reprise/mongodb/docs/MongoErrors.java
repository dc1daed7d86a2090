// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientException;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoWriteException;
import io.reprise.store.StoreException;
import java.util.Set;

/** Turns an error of the database into a StoreException. It looks at codes and labels only. */
public final class MongoErrors {

    private static final int DUPLICATE_KEY = 11_000;

    /**
     * Errors that a retry does not cure: bad value, parse error, unauthorized, authentication failed, illegal
     * operation, impossible document or index.
     */
    private static final Set<Integer> LASTING = Set.of(2, 9, 13, 18, 20, 67, 72, 85, 86, 121, 10_334, 17_280, 17_419);

    private MongoErrors() {}

    public static boolean isDuplicate(MongoException e) {
        if (e instanceof MongoWriteException write) {
            return write.getError().getCategory() == ErrorCategory.DUPLICATE_KEY;
        }
        if (e instanceof MongoBulkWriteException bulk) {
            return !bulk.getWriteErrors().isEmpty()
                    && bulk.getWriteErrors().stream()
                            .allMatch(error -> error.getCategory() == ErrorCategory.DUPLICATE_KEY);
        }
        return e.getCode() == DUPLICATE_KEY;
    }

    /** Whether a transaction lost a conflict or met a failover, so that it may be run again as a whole. */
    public static boolean isTransactionVictim(MongoException e) {
        return e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
    }

    public static StoreException wrap(String what, MongoException e) {
        boolean lasting = LASTING.contains(e.getCode())
                || e instanceof MongoSecurityException
                || (e.getClass() == MongoClientException.class)
                || isDuplicate(e);
        String advice = switch (e.getCode()) {
            case 13 -> ". The database user lacks a right: grant readWrite on Reprise's database";
            case 26, 27 -> ". A collection or index is missing: call prepare()";
            case 50 -> ". The operation ran into its timeout: look for load or a missing index on the server";
            default -> "";
        };
        return new StoreException("MongoDB could not " + what + ": " + e.getMessage() + advice, e, !lasting);
    }
}
