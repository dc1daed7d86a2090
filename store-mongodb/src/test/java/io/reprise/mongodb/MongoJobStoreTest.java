// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

class MongoJobStoreTest extends MongoContract {

    @Override
    MongoServer start() {
        return new MongoServer();
    }
}
