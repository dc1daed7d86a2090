// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Needs of jobs, offers of workers, groups and service levels over HTTP. */
class PlacementApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private int leased(String offers) {
        Reply reply = server.post(
                "/v1/leases",
                "{\"worker\":\"far\",\"queues\":[\"mail\"],\"types\":[\"send\"],\"max\":10,\"offers\":" + offers + "}");
        assertThat(reply.status()).as(reply.raw().body()).isEqualTo(200);
        return reply.json().at("/items").size();
    }

    @Test
    void a_worker_leases_what_it_offers() {
        String id = server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"needs\":[\"gpu\",\"eu\"]}");
        assertThat(server.get("/v1/jobs/" + id).json().at("/needs").toString()).isEqualTo("[\"eu\",\"gpu\"]");
        assertThat(leased("[]")).isZero();
        assertThat(leased("[\"gpu\"]")).isZero();
        assertThat(server.get("/v1/jobs/" + id + "/explain").raw().body())
                .contains("NoOffer", "no live worker that serves queue mail offers eu and gpu");
        TestServer.await(() -> leased("[\"gpu\",\"eu\"]") == 1 ? true : null);
    }

    @Test
    void a_pause_of_a_queue_holds_for_its_jobs_with_needs() {
        String id = server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"needs\":[\"gpu\"]}");
        server.post("/v1/queues/mail/pause", "{\"why\":\"lunch\"}");
        assertThat(leased("[\"gpu\"]")).isZero();
        assertThat(server.get("/v1/jobs/" + id + "/explain").raw().body()).contains("QueuePaused", "lunch");
        assertThat(server.get("/v1/queues/mail@needs:gpu/explain").raw().body()).contains("QueuePaused", "lunch");
        assertThat(server.get("/v1/queues/mail@needs:gpu")
                        .json()
                        .at("/pausedWhy")
                        .stringValue())
                .isEqualTo("lunch");
        server.post("/v1/queues/mail/resume", "{}");
        TestServer.await(() -> leased("[\"gpu\"]") == 1 ? true : null);
    }

    @Test
    void a_label_that_cannot_be_one_is_refused_by_name() {
        Reply refused = server.post("/v1/jobs", "{\"type\":\"send\",\"needs\":[\"g:pu\"]}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.raw().body()).contains("/needs/0", "1 to 30 letters");
        assertThat(server.post("/v1/leases", "{\"offers\":[\"g:pu\"]}").raw().body())
                .contains("/offers/0", "1 to 30 letters");
        assertThat(server.post("/v1/jobs", "{\"type\":\"send\",\"needs\":[\"" + "g".repeat(31) + "\"]}")
                        .raw()
                        .body())
                .contains("/needs/0");
    }

    @Test
    void a_queue_shows_the_groups_with_most_jobs_and_its_late_starts() {
        assertThat(server.put("/v1/settings/queues/mail", "{\"startWithin\":\"1h\",\"lateFirst\":true}")
                        .json()
                        .at("/queues/mail")
                        .toString())
                .contains("startWithin", "lateFirst");
        server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"group\":\"a\"}");
        server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"group\":\"b\"}");
        server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"group\":\"b\"}");
        Reply groups = server.get("/v1/queues/mail/groups");
        assertThat(groups.status()).as(groups.raw().body()).isEqualTo(200);
        assertThat(groups.json().at("/items/0/group").stringValue()).isEqualTo("b");
        assertThat(groups.json().at("/items/0/jobs").intValue()).isEqualTo(2);
        assertThat(groups.json().at("/inTime").doubleValue()).isEqualTo(1);
        assertThat(server.get("/v1/series?of=start&name=mail").status()).isEqualTo(200);
        assertThat(server.put("/v1/settings/queues/mail", "{\"lateFirst\":true}")
                        .raw()
                        .body())
                .contains("given together with startWithin");
    }
}
