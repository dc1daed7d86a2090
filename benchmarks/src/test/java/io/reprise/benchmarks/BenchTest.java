// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.system.QueueSystem;
import io.reprise.benchmarks.system.Systems;
import io.reprise.benchmarks.workload.Workload;
import io.reprise.testkit.Slow;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The command itself, with few jobs: each measurement checks that every job ran exactly once and that none is left. */
class BenchTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void jobs_are_enqueued_drained_and_retried_exactly_once(String store) {
        int code = bench("--quick", "--json", "--peers=none", "--rounds=1", "--only=W1b,W2,W4", "--store=" + store);

        assertThat(code).as(err.toString()).isZero();
        JsonNode results = new JsonMapper().readTree(out.toString()).get("results");
        assertThat(results.valueStream()
                        .map(each -> each.get("workload").asString() + " "
                                + each.get("system").asString()))
                .containsExactlyInAnyOrder(
                        "W1b reprise",
                        "W1b raw",
                        "W2-10k reprise",
                        "W2-10k raw",
                        "W2 reprise",
                        "W2 raw",
                        "W4 reprise",
                        "W4 raw");
        for (JsonNode each : results) {
            assertThat(each.get("store").asString()).isEqualTo(store);
            assertThat(each.get("rate").asDouble()).isPositive();
            assertThat(each.get("rounds")).hasSize(1);
        }
    }

    @Test
    void a_drain_is_measured_cold_too_and_tells_what_cpu_it_took() {
        int code = bench("--quick", "--json", "--cold", "--peers=none", "--rounds=1", "--only=W2");

        assertThat(code).as(err.toString()).isZero();
        JsonNode results = new JsonMapper().readTree(out.toString()).get("results");
        assertThat(results.valueStream()
                        .map(each -> each.get("workload").asString())
                        .distinct())
                .containsExactlyInAnyOrder("W2-10k", "W2", "W2-10k-cold", "W2-cold");
        for (JsonNode each : results) {
            assertThat(each.get("workerCpuUs").asDouble()).isPositive();
            assertThat(each.has("databaseCpuUs")).isEqualTo(Files.isDirectory(Path.of("/proc/self")));
        }
    }

    @Test
    void a_peer_says_what_it_cannot_do() {
        QueueSystem peer = Systems.get("graphile-worker");

        assertThat(peer.cannot("W2", StoreKind.SQLITE)).isEqualTo("is for PostgreSQL only");
        assertThat(peer.cannot("W4", StoreKind.POSTGRESQL)).contains("retries");
        assertThat(peer.cannot("W8", StoreKind.POSTGRESQL)).contains("Node.js");
    }

    @ParameterizedTest
    @CsvSource({"sqlite, 'H1,H3,H3-singly'", "postgresql, H2"})
    void a_server_takes_jobs_and_hands_them_out_exactly_once(String store, String workloads) {
        int code = bench("--quick", "--json", "--peers=none", "--rounds=1", "--only=" + workloads, "--store=" + store);

        assertThat(code).as(err.toString()).isZero();
        JsonNode results = new JsonMapper().readTree(out.toString()).get("results");
        assertThat(results).hasSize(2 * workloads.split(",", -1).length);
        for (JsonNode each : results) {
            assertThat(each.get("rate").asDouble()).isPositive();
            assertThat(each.has("ofDirect"))
                    .isEqualTo(each.get("system").asString().equals("reprise"));
        }
    }

    @Slow
    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void recovery_is_measured_against_the_same_run(String store) {
        int code =
                bench("--quick", "--json", "--peers=none", "--rounds=1", "--only=R1-5ms,R2,R3,R4", "--store=" + store);

        assertThat(code).as(err.toString()).isZero();
        for (JsonNode each : new JsonMapper().readTree(out.toString()).get("results")) {
            if (each.get("system").asString().equals("reprise")) {
                boolean storm = !each.get("workload").asString().matches("R1.*|R3");
                // So few jobs may be done before the rate afterwards is measured.
                assertThat(each.get(storm ? "ofOff" : "drained").asDouble())
                        .as(each.toString())
                        .isPositive();
                assertThat(each.has("ofBefore")).isEqualTo(!storm);
                assertThat(each.get("left").asDouble()).isZero();
            }
        }
    }

    @Test
    void a_name_may_stand_for_all_that_begin_with_it() {
        assertThat(meant("R1"))
                .containsExactly(
                        "R1-0ms", "R1-5ms", "R1-50ms", "R1-0ms-arrivals", "R1-5ms-arrivals", "R1-50ms-arrivals");
        assertThat(meant("R1-5ms")).containsExactly("R1-5ms");
        assertThat(meant("W1")).containsExactly("W1");
        assertThat(meant("R")).isEmpty();
    }

    private static List<String> meant(String given) {
        return Workloads.ALL.stream()
                .filter(workload -> Workloads.isMeant(given, workload))
                .map(Workload::name)
                .toList();
    }

    @Test
    void unknown_names_are_refused_with_the_known_ones() {
        assertThat(bench("--only=W99")).isEqualTo(2);
        assertThat(bench("--peers=nobody")).isEqualTo(2);
        assertThat(bench("--store=paper")).isEqualTo(2);

        assertThat(err.toString()).contains("W1b", "db-scheduler, jobrunr, quartz", "postgresql, mariadb or sqlite");
    }

    @Test
    void what_takes_long_runs_only_when_asked_for() {
        List<String> byDefault = Workloads.ALL.stream()
                .filter(Workload::byDefault)
                .map(Workload::name)
                .toList();

        assertThat(byDefault)
                .containsExactly(
                        "W1",
                        "W1b",
                        "W2",
                        "W3",
                        "W4",
                        "W5",
                        "W6",
                        "idle",
                        "heap",
                        "WAL",
                        "H1",
                        "H2",
                        "H3",
                        "H3-singly");
    }

    private int bench(String... args) {
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }
}
