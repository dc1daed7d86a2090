// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.reprise.Reprise;
import io.reprise.job.AuditNote;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Quotas;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SimulationTimeTest {

    private final ManualClock clock = new ManualClock();
    private final AtomicLong cpu = new AtomicLong();
    private final SimulationTime time = new SimulationTime(clock, cpu::get);

    private void simulate(String owner, int seconds) {
        time.require(owner);
        time.spend(owner, () -> cpu.addAndGet(Duration.ofSeconds(seconds).toNanos()));
    }

    private Problem refusal(String owner) {
        return catchThrowableOfType(Problem.class, () -> time.require(owner));
    }

    @Test
    void who_has_used_up_its_time_waits_and_others_do_not() {
        simulate("tenant a", 20);
        simulate("tenant a", 20);
        Problem refused = refusal("tenant a");
        assertThat(refused.type().status()).isEqualTo(429);
        assertThat(refused.detail()).contains("try again in 111 s", "reprise simulate");
        assertThatCode(() -> simulate("tenant b", 1)).doesNotThrowAnyException();
        clock.advance(Duration.ofSeconds(109));
        assertThat(refusal("tenant a")).isNotNull();
        clock.advance(Duration.ofSeconds(1));
        assertThatCode(() -> simulate("tenant a", 1)).doesNotThrowAnyException();
    }

    @Test
    void over_an_hour_one_owner_has_a_tenth_of_a_core_and_all_have_half_of_one() {
        long one = anHour(1);
        long many = anHour(20);
        assertThat(one).isBetween(350L, 400L);
        assertThat(many).isBetween(1_750L, 1_930L);
    }

    /** Simulations of a second, as many as are allowed. */
    private long anHour(int owners) {
        clock.advance(Duration.ofDays(1));
        long before = cpu.get();
        for (int minute = 0; minute < 60; minute++) {
            for (int owner = 0; owner < owners; owner++) {
                while (refusal("tenant " + owner) == null) {
                    simulate("tenant " + owner, 1);
                }
            }
            clock.advance(Duration.ofMinutes(1));
        }
        return Duration.ofNanos(cpu.get() - before).toSeconds();
    }

    @Test
    void a_request_beyond_it_is_answered_429_with_what_to_do_and_other_keys_go_on() throws Exception {
        JobStore store = new InMemoryJobStore();
        try (RepriseServer server = RepriseServer.start(
                Reprise.builder(),
                store,
                new RepriseServer.Parts(
                        "test-server",
                        "test",
                        new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                        1_000_000,
                        new Outgoing(store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null),
                        Quotas.Limits.DEFAULT,
                        null,
                        false,
                        List.of(api -> new SimulationEndpoints(
                                api, new SimulationTime(clock, () -> cpu.addAndGet(40_000_000_000L))))))) {
            String acme = key(store, "acme");
            assertThat(simulate(server, acme).statusCode()).isEqualTo(200);
            HttpResponse<String> refused = simulate(server, acme);
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            assertThat(refused.body()).contains("reprise simulate outage");
            assertThat(simulate(server, key(store, "other")).statusCode()).isEqualTo(200);
        }
    }

    private static String key(JobStore store, String tenant) {
        return new Keys(store, InstantSource.system())
                .create("key", Set.of(Scope.READ), tenant, new AuditNote("test", null))
                .text();
    }

    private static HttpResponse<String> simulate(RepriseServer server, String key) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + "/v1/simulations"))
                .timeout(Duration.ofMinutes(2))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"outageMinutes\":1,\"rate\":1,\"policies\":[\"reprise\"]}"))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
