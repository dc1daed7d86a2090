// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.testkit.contract.JobStoreContract;

class MongoJobStoreTest extends MongoFixture implements JobStoreContract {

    @Override
    MongoServer start() {
        return new MongoServer();
    }
}
