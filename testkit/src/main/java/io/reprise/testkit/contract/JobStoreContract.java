// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import io.reprise.testkit.batches.BatchContract;
import io.reprise.testkit.batches.JoinContract;
import io.reprise.testkit.batches.KeyFollowerContract;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.steps.LogContract;
import io.reprise.testkit.steps.StepContract;
import io.reprise.testkit.turns.GroupContract;
import io.reprise.testkit.turns.LimitContract;
import io.reprise.testkit.turns.OrderContract;

/**
 * The promises of a {@link io.reprise.store.JobStore}, as tests. A store's test class implements this and supplies
 * {@link StoreFixture#store}; a feature that a store lacks shows as skipped.
 *
 * <pre>{@code
 * class MyJobStoreTest implements JobStoreContract {
 *     private final JobStore store = MyJobStore.open(...);
 *
 *     @Override
 *     public JobStore store() {
 *         return store;
 *     }
 * }
 * }</pre>
 */
public interface JobStoreContract
        extends InsertContract,
                ClaimContract,
                DueQueueContract,
                LaneContract,
                SettleContract,
                FollowUpContract,
                LeaseContract,
                UpkeepContract,
                BulkContract,
                UniqueKeyContract,
                IdempotencyContract,
                QueueContract,
                ScheduleContract,
                QueryContract,
                LookContract,
                DeadLetterContract,
                RoleContract,
                ControlContract,
                ConcurrencyContract,
                TransactionContract,
                DataContract,
                InsightContract,
                WorkerContract,
                QueuePositionContract,
                DocumentContract,
                TypeContract,
                DeadGroupContract,
                GroupContract,
                LimitContract,
                OrderContract,
                StepContract,
                BatchContract,
                JoinContract,
                KeyFollowerContract,
                LogContract {}
