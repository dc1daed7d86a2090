// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.JobStore;
import io.reprise.store.QueueState;
import io.reprise.testkit.Claims;
import io.reprise.testkit.Jobs;
import io.reprise.testkit.StoreFixture;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Counts of a store that is too large to be counted whole, here from the first document on. */
class QueueCountTest implements StoreFixture {

    private static final int COUNTED = 3;

    private static final Settings SETTINGS = new Settings(Duration.ofSeconds(30), 25, "reprise_", true, null);

    private MongoServer server;
    private Queues queues;

    @BeforeEach
    void open() {
        server = new MongoServer();
        queues = new Queues(new Mongo(server.client(), server.database(), SETTINGS), 0, names -> COUNTED);
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
        add(Jobs.on("small").delay(Duration.ofHours(1)));
        deadLetter(Jobs.on("small"));
        for (int n = 0; n < 5; n++) {
            add(Jobs.on("large").priority(9));
        }
        claimOne(Claims.upTo(1).from("large"));
        JobId oldest = add(Jobs.on("large").priority(-9).delay(Duration.ofMillis(1)));
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
        JobId oldest = add(Jobs.on("large").priority(-9));
        awaitNextInstant();
        for (int n = 0; n < 5; n++) {
            add(Jobs.on("large").priority(9));
        }
        assertThat(queues.all().get(0).oldestDueAt())
                .isEqualTo(read(oldest).times().dueAt());
    }
}
