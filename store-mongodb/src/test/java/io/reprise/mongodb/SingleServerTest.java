// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.testkit.contract.JobStoreContract;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The contract without transactions, also when {@link MongoJobStoreTest} runs where there are some. */
@EnabledIfEnvironmentVariable(
        named = MongoServer.VARIABLE,
        matches = ".+",
        disabledReason = "MongoJobStoreTest runs on the server in memory anyway")
class SingleServerTest extends MongoFixture implements JobStoreContract {

    @Override
    MongoServer start() {
        return new MongoServer(null);
    }
}
