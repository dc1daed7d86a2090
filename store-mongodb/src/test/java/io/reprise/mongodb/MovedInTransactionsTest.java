// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.testkit.batches.BatchContract;
import io.reprise.testkit.contract.BulkContract;
import io.reprise.testkit.contract.ConcurrencyContract;
import io.reprise.testkit.contract.DeadGroupContract;
import io.reprise.testkit.contract.DeadLetterContract;
import io.reprise.testkit.contract.FollowUpContract;
import io.reprise.testkit.contract.SettleContract;
import io.reprise.testkit.contract.UpkeepContract;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * Dead letters that are moved to a collection of their own in a transaction: the contracts in which jobs die or come
 * back. The others do not move any job.
 */
@EnabledIfEnvironmentVariable(
        named = MongoServer.VARIABLE,
        matches = ".+",
        disabledReason = "The server in memory has no transactions")
class MovedInTransactionsTest extends MongoFixture
        implements SettleContract,
                DeadLetterContract,
                DeadGroupContract,
                FollowUpContract,
                BulkContract,
                BatchContract,
                UpkeepContract,
                ConcurrencyContract {

    @Override
    MongoServer start() {
        return new MongoServer(
                System.getenv(MongoServer.VARIABLE), MongoJobStore.builder().deadLettersIn(MongoServer.DEAD_LETTERS));
    }
}
