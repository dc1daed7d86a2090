// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoException;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoServer;
import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.BadNetwork;
import io.reprise.testkit.faults.KillStorm;
import io.reprise.testkit.faults.Overtaken;
import io.reprise.testkit.faults.TcpProxy;
import io.reprise.testkit.faults.Work;
import java.nio.file.Path;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers that are killed or frozen, connections that break or say nothing, a primary that steps down. */
@Timeout(1_800)
class MongoFaultsTest {

    private static final int UNAUTHORIZED = 13;

    @TempDir
    private Path directory;

    private MongoServer server;

    @BeforeEach
    void open() {
        server = new MongoServer();
    }

    @AfterEach
    void close() {
        server.close();
    }

    /** So many on a real server; more where one call is quick. */
    private int times(int usually, int inLongRuns) {
        return FaultRun.times(server.isReal() ? usually : 2 * usually, inLongRuns);
    }

    private FaultRun movingDeadLetters() {
        return new FaultRun(directory, server, MongoJobStore.builder().deadLettersIn("tasks_dlq"));
    }

    @Test
    void nothing_is_lost_or_done_twice_however_many_workers_are_killed() {
        try (FaultRun run = movingDeadLetters()) {
            run.startLoad();
            String done = KillStorm.over(run, times(4, 150));
            run.drainAndCheck(done + " on MongoDB");
        }
    }

    @Test
    void what_a_frozen_worker_did_is_refused_after_it_was_overtaken() {
        try (FaultRun run = new FaultRun(directory, server)) {
            Overtaken.in(run, worker -> worker.process().pause(), "A frozen worker on MongoDB");
        }
    }

    /** In memory: a network that says nothing is the same before every server, and takes long before a slow one. */
    @Slow
    @Test
    void a_worker_that_hears_nothing_more_harms_nobody_and_comes_back() {
        try (MongoServer memory = new MongoServer(null);
                TcpProxy proxy = TcpProxy.before(memory.port());
                FaultRun run = new FaultRun(directory, memory)) {
            run.startLoad();
            new BadNetwork(run, proxy, memory.urlThrough(proxy.port())).deafen();
            run.drainAndCheck("A stalled network");
        }
    }

    @Test
    void answers_that_do_not_arrive_are_not_taken_for_failures() {
        int times = FaultRun.times(1, 5);
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, server)) {
            run.load().start(Work::quickOnes);
            new BadNetwork(run, proxy, server.urlThrough(proxy.port())).keepAnswers(times);
            run.drainAndCheck(times + " times requests without answers");
        }
    }

    /** In memory, where answers are many; a primary that steps down breaks connections of transactions too. */
    @Slow
    @Test
    void connections_break_in_the_middle_of_answers() {
        try (MongoServer memory = new MongoServer(null);
                TcpProxy proxy = TcpProxy.before(memory.port());
                FaultRun run = new FaultRun(directory, memory)) {
            run.startLoad();
            new BadNetwork(run, proxy, memory.urlThrough(proxy.port())).breakAnswers(FaultRun.times(20, 600));
            run.drainAndCheck(proxy.broken() + " broken connections");
        }
    }

    @Test
    void a_primary_that_steps_down_under_load_loses_nothing() {
        server.assumeReal("replica sets");
        int times = FaultRun.times(2, 20);
        try (FaultRun run = movingDeadLetters()) {
            run.startLoad();
            run.startWorker();
            run.startWorker();
            long term = term();
            for (int i = 0; i < times; i++) {
                run.awaitProgress(10);
                stepDown();
            }
            run.awaitProgress(10);
            assertThat(term()).isGreaterThanOrEqualTo(term + times);
            run.drainAndCheck(times + " times stepped down");
        }
    }

    /** Grows with every election. */
    private long term() {
        Document status = server.client().getDatabase("admin").runCommand(new Document("replSetGetStatus", 1));
        return ((Number) status.get("term")).longValue();
    }

    /** For three seconds there is no primary; then the only member is elected again. */
    private void stepDown() {
        try {
            server.client().getDatabase("admin").runCommand(new Document("replSetStepDown", 3).append("force", true));
        } catch (MongoException e) {
            // It may close the connection it was told by.
            assertThat(e.getCode()).as("%s", e).isNotEqualTo(UNAUTHORIZED);
        }
    }
}
