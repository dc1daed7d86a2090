// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Scope;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SimulationTest {

    private static final String SMALL =
            "{\"outageMinutes\":1,\"rate\":1,\"policies\":[\"reprise\",\"river\",\"sidekiq\",{\"maxAttempts\":1}]}";

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void each_policy_has_a_line() {
        TestServer.Reply reply = server.send(server.admin, "POST", "/v1/simulations", SMALL);
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.raw().body().lines()).hasSize(4).allMatch(line -> line.contains("\"callsPerJob\""));
    }

    @Test
    void a_client_that_goes_in_the_middle_keeps_no_other_from_simulating() throws IOException {
        String key = server.key("looker", null, Scope.READ);
        URI url = URI.create(server.server.url());
        String large = SMALL.replace("\"rate\":1,", "\"rate\":10,");
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            socket.setSoTimeout(60_000);
            socket.setSoLinger(true, 0);
            socket.getOutputStream()
                    .write(("POST /v1/simulations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                    + "Authorization: Bearer " + key + "\r\nContent-Length: " + large.length()
                                    + "\r\n\r\n" + large)
                            .getBytes(StandardCharsets.UTF_8));
            assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.UTF_8))
                    .isEqualTo("HTTP/1.1 200");
        }
        assertThat(TestServer.await(() -> {
                    int status = server.send(server.admin, "POST", "/v1/simulations", SMALL)
                            .status();
                    return status == 200 ? status : null;
                }))
                .isEqualTo(200);
    }

    @Test
    void what_cannot_be_simulated_is_refused_and_keeps_no_other_from_simulating() {
        for (String body : List.of(
                "{\"policies\":[]}",
                "{\"policies\":[1]}",
                "{\"policies\":[null]}",
                "{\"policies\":[[\"reprise\"]]}",
                "{\"policies\":[{\"maxAttempts\":-1}]}",
                "{\"policies\":[\"\"]}",
                "{\"policies\":[\"none\"]}",
                "{\"policies\":[\"reprise\"],\"outageMinutes\":0}",
                "{\"policies\":[\"reprise\"],\"rate\":1e9}")) {
            assertThat(server.send(server.admin, "POST", "/v1/simulations", body)
                            .status())
                    .as(body)
                    .isEqualTo(400);
        }
        assertThat(server.send(server.admin, "POST", "/v1/simulations", SMALL).status())
                .isEqualTo(200);
    }
}
