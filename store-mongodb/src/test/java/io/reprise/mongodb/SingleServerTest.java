// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** What holds without transactions, also when the other tests run where there are some. */
@EnabledIfEnvironmentVariable(
        named = MongoServer.VARIABLE,
        matches = ".+",
        disabledReason = "The other tests run on the server in memory anyway")
class SingleServerTest {

    @Nested
    class Plain extends MongoContract {
        @Override
        MongoServer start() {
            return new MongoServer(null);
        }
    }

    @Nested
    class MovingDeadLetters extends MongoContract {
        @Override
        MongoServer start() {
            return new MongoServer(null, MongoJobStore.builder().deadLettersIn(MongoServer.DEAD_LETTERS));
        }
    }
}
