// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.sqlite.SqliteDatabase;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.Progress;
import io.reprise.store.Claim;
import io.reprise.store.ControlRow;
import io.reprise.store.Requeue;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The embedded default after a power cut at every write: the files are copied before and after each call of the store, and
 * reopened as they may have been in between. Each image is sound and shows exactly the state before the call or after
 * it; after it, once the call has returned.
 */
@Timeout(300)
class CrashPointsTest implements StoreFixture {

    /** Pages in the WAL after which a commit moves them to the file: few, so that this happens often. */
    private static final int CHECKPOINT = 40;

    private static final Duration LATER = Duration.ofHours(1);

    @TempDir
    private Path directory;

    private Path file;
    private JdbcJobStore store;
    private int images;
    private int checkpoints;
    private Map<String, Integer> state = Map.of();
    private CrashImages.Disk disk = new CrashImages.Disk(new byte[0], new byte[0]);

    @BeforeEach
    void open() {
        file = directory.resolve("jobs.db");
        Sqlite.execute(file, "pragma journal_mode = wal");
        store = JdbcJobStore.builder()
                .sqlite(new SqliteDatabase(file, Duration.ofSeconds(30), 1, this::openWithFrequentCheckpoints));
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    public JdbcJobStore store() {
        return store;
    }

    private Connection openWithFrequentCheckpoints() throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        try (Statement statement = connection.createStatement()) {
            statement.execute("pragma wal_autocheckpoint = " + CHECKPOINT);
        }
        return connection;
    }

    @Test
    void every_image_of_the_disk_is_the_state_before_a_call_or_after_it() throws Exception {
        restart();
        call("prepare", store::prepare);
        lifeOfJobs();
        failuresAndLosses();
        byHand();
        upkeep();
        assertThat(checkpoints).as("calls with a checkpoint").isGreaterThan(3);
        assertThat(images).as("images").isGreaterThan(1_000);
        System.out.println("Crash points: " + images + " images of the disk, " + checkpoints + " checkpoints");
    }

    private void lifeOfJobs() throws Exception {
        call("store a job", () -> add(TestJobs.spec("first")));
        call("store many jobs", () -> add(TestJobs.many(120)));
        call("store a job with a unique key", () -> add(TestJobs.spec("keyed").key("k", KeyRule.KEEP)));
        call("find it stored", () -> add(TestJobs.spec("keyed").key("k", KeyRule.KEEP)));
        call("store a job once", () -> add(TestJobs.spec("once").idempotencyKey("once")));
        call("store a delayed job", () -> add(TestJobs.spec("later").delay(LATER)));
        List<Claim> claims = new ArrayList<>();
        call("claim", () -> claims.addAll(claim(TestClaims.upTo(20))));
        Claim claim = claims.get(0);
        List<Job> jobs = claim.jobs();
        call("renew", () -> store.renew("worker-1", Set.of(claim.token()), LATER));
        call(
                "settle successes",
                () -> settle(
                        TestSettlements.success(claim, jobs.get(0)),
                        TestSettlements.success(claim, jobs.get(1)),
                        TestSettlements.success(claim, jobs.get(2))));
        call("settle again", () -> settle(TestSettlements.success(claim, jobs.get(0))));
        call("settle a result", () -> settle(TestSettlements.success(claim, jobs.get(3), "{\"n\":1}")));
        call(
                "settle all kinds",
                () -> settle(
                        TestSettlements.retry(claim, jobs.get(4), Duration.ZERO),
                        TestSettlements.fail(claim, jobs.get(5)),
                        TestSettlements.snooze(claim, jobs.get(6), LATER),
                        TestSettlements.interruption(claim, jobs.get(7)),
                        TestSettlements.cancellation(claim, jobs.get(8)),
                        TestSettlements.park(claim, jobs.get(9), "bank"),
                        TestSettlements.success(claim, jobs.get(10))));
        call("progress", () -> store.progress(jobs.get(11).id(), claim.token(), new Progress(50, "half")));
        call("close the lease", () -> store.settle(List.of(), List.of(claim.token())));
        call("claim the rest", () -> claims.addAll(claim(TestClaims.upTo(100))));
        Claim rest = claims.get(claims.size() - 1);
        call(
                "settle the rest",
                () -> store.settle(
                        rest.jobs().stream()
                                .map(job -> TestSettlements.success(rest, job))
                                .toList(),
                        List.of(rest.token())));
    }

    private void failuresAndLosses() throws Exception {
        call("let parked jobs go", () -> store.unpark("bank", 10));
        for (int loss = 1; loss <= 2; loss++) {
            call(
                    "claim and die",
                    () -> store.claim(
                            TestClaims.upTo(3).by("dying").lease(Duration.ZERO).build()));
            List<Claim> taken = new ArrayList<>();
            call(
                    "take over",
                    () -> await(() -> store.takeOver("heir", LATER, 10).stream()
                                    .peek(lost -> taken.add(lost.claim()))
                                    .count()
                            > 0));
            call(
                    "settle losses",
                    () -> taken.forEach(lost -> store.settle(
                            lost.jobs().stream()
                                    .map(job -> TestSettlements.loss(lost, job))
                                    .toList(),
                            List.of(lost.token()))));
        }
    }

    private void byHand() throws Exception {
        List<JobId> ids = new ArrayList<>();
        call("store", () -> ids.addAll(add(TestJobs.many(4))));
        call("cancel", () -> store.cancel(ids.get(0), NOTE));
        JobId dead = add(TestJobs.on("other"));
        Claim claim = claimOne(TestClaims.upTo(1).from("other"));
        settle(TestSettlements.fail(claim, only(claim)));
        restart();
        call(
                "replay a dead letter",
                () -> store.requeue(
                        dead, new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE), NOTE));
        call(
                "change a waiting job",
                () -> store.changeAll(
                        Map.of(dead, JobChange.NONE.withPriority(3).toQueue("third")), NOTE));
        call("discard", () -> store.discard(ids.get(0), NOTE));
        call("pause", () -> store.pause("other", NOTE));
        call("limit", () -> store.limit("other", 3, NOTE));
        call("resume", () -> store.resume("other", NOTE));
        call(
                "schedule",
                () -> store.putSchedule(
                        "nightly", "every PT1H", TestJobs.spec("night").build(), store.now()));
        call("fire", () -> {
            var due = store.schedules().get(0).nextAt();
            assertThat(store.fire(
                            "nightly",
                            due,
                            due.plus(LATER),
                            List.of(TestJobs.spec("night").build())))
                    .isPresent();
        });
        call(
                "control",
                () -> assertThat(store.putControl(new ControlRow("bank", 0, "{}")))
                        .isPresent());
    }

    private void upkeep() throws Exception {
        call("lead", () -> store.lead("sweeper", "worker-1", LATER));
        call("maintain", store::maintain);
        awaitNextInstant();
        call("prune", () -> store.prune(Set.of(JobState.SUCCEEDED, JobState.CANCELLED), Duration.ZERO, 50));
        for (int i = 0; i < 6; i++) {
            call("store more", () -> add(TestJobs.many(10)));
            List<Claim> claims = new ArrayList<>();
            call("claim more", () -> claims.addAll(claim(TestClaims.upTo(5))));
            call(
                    "settle more",
                    () -> store.settle(
                            claims.stream()
                                    .flatMap(claim ->
                                            claim.jobs().stream().map(job -> TestSettlements.success(claim, job)))
                                    .toList(),
                            claims.stream().map(Claim::token).toList()));
        }
    }

    /** Takes the files as they are, after calls that were not looked at. */
    private void restart() throws Exception {
        disk = CrashImages.read(file);
        state = reopened(new CrashImages.Image("as it is", disk.db, disk.wal, 0, true));
    }

    /** Makes the call, then looks at every state of the disk there may have been. */
    private void call(String what, Runnable work) throws Exception {
        work.run();
        CrashImages.Disk after = CrashImages.read(file);
        List<CrashImages.Image> all = CrashImages.between(disk, after);
        Map<String, Integer> old = state;
        CrashImages.Image last = new CrashImages.Image("after", after.db, after.wal, 0, true);
        Map<String, Integer> now = reopened(last);
        assertThat(all.get(all.size() - 1).commits).as("%s: transactions", what).isLessThanOrEqualTo(1);
        for (CrashImages.Image image : all) {
            Map<String, Integer> found = reopened(image);
            if (image.all) {
                assertThat(found).as("%s: %s, all written", what, image.what).isEqualTo(now);
            } else {
                assertThat(found).as("%s: %s, not committed", what, image.what).isEqualTo(old);
            }
        }
        images += all.size();
        checkpoints += Arrays.equals(disk.db, after.db) ? 0 : 1;
        disk = after;
        state = now;
        worksOn(what);
    }

    /** A hash of the rows of each table in an image, after SQLite has recovered and found it sound. */
    private Map<String, Integer> reopened(CrashImages.Image image) throws IOException, SQLException {
        Path copy = copy(image);
        try (Connection connection = Sqlite.connection(copy);
                Statement statement = connection.createStatement()) {
            statement.execute("pragma synchronous = off");
            assertThat(column(statement, "pragma integrity_check"))
                    .as(image.what)
                    .containsExactly("ok");
            Map<String, Integer> all = new TreeMap<>();
            for (String table : column(
                    statement,
                    "select name from sqlite_master where type = 'table' and name not like 'sqlite_stat%' order by 1")) {
                String row = column(
                                statement, "select 'quote(\"' || name || '\")' from pragma_table_info('" + table + "')")
                        .stream()
                        .collect(Collectors.joining(" || ',' || "));
                all.put(
                        table,
                        column(statement, "select " + row + " from " + table + " order by 1")
                                .hashCode());
            }
            return all;
        }
    }

    private Path copy(CrashImages.Image image) throws IOException {
        Path copy = directory.resolve("copy.db");
        Files.deleteIfExists(Path.of(copy + "-shm"));
        Files.write(copy, image.disk.db);
        Files.write(Path.of(copy + "-wal"), image.disk.wal);
        return copy;
    }

    private static List<String> column(Statement statement, String sql) throws SQLException {
        List<String> values = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
        }
        return values;
    }

    /** The store goes on with what is there: all that is free runs, and counters tell what the rows tell. */
    private void worksOn(String what) throws IOException {
        Path copy = copy(new CrashImages.Image("copy", disk.db, disk.wal, 0, true));
        try (JdbcJobStore again = JdbcJobStore.sqlite(copy)) {
            again.prepare();
            List<Claim> claims =
                    again.claim(TestClaims.upTo(100).by("after " + what).build());
            for (Claim claim : claims) {
                assertThat(again.settle(
                                        claim.jobs().stream()
                                                .map(job -> TestSettlements.success(claim, job))
                                                .toList(),
                                        List.of(claim.token()))
                                .stale())
                        .isEmpty();
            }
            for (JobState each : JobState.values()) {
                long counted = again.queues().stream()
                        .mapToLong(queue -> queue.count(each))
                        .sum();
                int found = again.find(JobQuery.all().state(each).limit(500))
                        .items()
                        .size();
                assertThat(counted).as("%s after %s", each, what).isEqualTo(found);
            }
        }
    }
}
