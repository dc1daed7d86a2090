// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

/** The same with dead letters in a collection of their own. */
class MovedDeadLettersTest extends MongoContract {

    @Override
    MongoServer start() {
        return new MongoServer(
                System.getenv(MongoServer.VARIABLE), MongoJobStore.builder().deadLettersIn(MongoServer.DEAD_LETTERS));
    }
}
