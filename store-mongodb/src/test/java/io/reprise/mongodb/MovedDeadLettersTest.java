// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.testkit.contract.JobStoreContract;

/** The contract with dead letters in a collection of their own, in memory: {@link MovedInTransactionsTest} has a real server. */
class MovedDeadLettersTest extends MongoFixture implements JobStoreContract {

    @Override
    MongoServer start() {
        return new MongoServer(null, MongoJobStore.builder().deadLettersIn(MongoServer.DEAD_LETTERS));
    }
}
