// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoSettings;
import io.reprise.store.JobStore;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Counts of a store that is too large to be counted whole, here from the first document on. */
class QueueCountTest implements StoreFixture {

    private static final int COUNTED = 3;

    private static final MongoSettings SETTINGS =
            new MongoSettings(Duration.ofSeconds(30), 25, "reprise_", true, false, null);

    private MongoServer server;
    private MongoQueues queues;

    @BeforeEach
    void open() {
        server = new MongoServer();
        queues = new MongoQueues(new Mongo(server.client(), server.database(), SETTINGS), 0, names -> COUNTED);
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Override
    public JobStore store() {
        return server.store();
    }

    @Test
    void a_count_stops_and_says_so() {
        add(TestJobs.on("small").delay(Duration.ofHours(1)));
        deadLetter(TestJobs.on("small"));
        for (int n = 0; n < 5; n++) {
            add(TestJobs.on("large").priority(9));
        }
        claimOne(TestClaims.upTo(1).from("large"));
        JobId oldest = add(TestJobs.on("large").priority(-9).delay(Duration.ofMillis(1)));
        awaitNextInstant();
        store().limit("empty", 4, NOTE);
        List<QueueState> states = queues.all();
        assertThat(states).extracting(QueueState::name).containsExactly("empty", "large", "small");
        QueueState large = states.get(1);
        assertThat(large.count(JobState.PENDING)).isEqualTo(COUNTED);
        assertThat(large.count(JobState.RUNNING)).isEqualTo(1);
        assertThat(large.atLeast()).isEqualTo(Set.of(JobState.PENDING));
        assertThat(large.oldestDueAt())
                .isNotNull()
                .isBeforeOrEqualTo(read(oldest).times().dueAt());
        QueueState small = states.get(2);
        assertThat(small.atLeast()).isEmpty();
        assertThat(small.count(JobState.PENDING)).isEqualTo(1);
        assertThat(small.count(JobState.FAILED)).isEqualTo(1);
        assertThat(small.oldestDueAt()).isNull();
        assertThat(states.get(0).maxRunning()).isEqualTo(4);
    }

    @Test
    void the_oldest_is_found_in_any_level() {
        JobId oldest = add(TestJobs.on("large").priority(-9));
        awaitNextInstant();
        for (int n = 0; n < 5; n++) {
            add(TestJobs.on("large").priority(9));
        }
        assertThat(queues.all().get(0).oldestDueAt())
                .isEqualTo(read(oldest).times().dueAt());
    }
}
