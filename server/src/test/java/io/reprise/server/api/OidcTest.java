// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.reprise.server.auth.Oidc;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.Stub;
import io.reprise.server.net.HttpSettings;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Tokens of a provider on a real socket, good ones and forged ones. */
class OidcTest {

    private final ECKey key = key("1");
    private volatile boolean down;

    /** While this is above zero the provider answers nobody. */
    private volatile CountDownLatch hangs = new CountDownLatch(0);

    private final Stub provider = new Stub(this::answer);
    private final String issuer = provider.url("/realm");
    private final TestServer server = new TestServer(
            new Oidc(new Oidc.Settings(issuer, "reprise", "reprise_scopes", "reprise_tenant"), InstantSource.system()));

    private static ECKey key(String id) {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
        } catch (com.nimbusds.jose.JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private Stub.Reply answer(Stub.Seen seen) {
        try {
            hangs.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (down) {
            return Stub.Reply.of(503);
        }
        String self = "http://" + seen.header("host");
        String body = seen.path().equals("/realm/.well-known/openid-configuration")
                ? "{\"issuer\":\"" + self + "/realm\",\"jwks_uri\":\"" + self + "/keys\"}"
                : new JWKSet(key.toPublicJWK()).toString();
        return new Stub.Reply(200, Map.of("Content-Type", "application/json"), body);
    }

    @AfterEach
    void stop() {
        server.close();
        provider.close();
    }

    private JWTClaimsSet.Builder claims() {
        return new JWTClaimsSet.Builder()
                .issuer(issuer)
                .audience("reprise")
                .subject("ada")
                .expirationTime(Date.from(Instant.now().plusSeconds(3_600)))
                .claim("reprise_scopes", List.of("read", "enqueue", "unknown"))
                .claim("reprise_tenant", "acme");
    }

    private static String signed(ECKey by, JWTClaimsSet claims) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(by.getKeyID()).build(), claims);
        token.sign(new ECDSASigner(by));
        return token.serialize();
    }

    private int list(String token) {
        return server.send(token, "GET", "/v1/jobs", null).status();
    }

    @Test
    void a_token_lets_in_as_its_claims_say() throws Exception {
        String token = signed(key, claims().build());
        String id = server.send(token, "POST", "/v1/jobs", "{\"type\":\"a\"}").text("id");
        assertThat(server.get("/v1/jobs/" + id).text("queue")).isEqualTo("acme/default");
        assertThat(server.send(token, "POST", "/v1/queues/a/pause", "{}").status())
                .isEqualTo(403);
        String spaced =
                signed(key, claims().claim("reprise_scopes", "read operate").build());
        assertThat(server.send(spaced, "POST", "/v1/queues/a/pause", "{}").status())
                .isEqualTo(200);
        JsonNode entry = server.get("/v1/audit").json().get("items").get(0);
        assertThat(entry.get("action").stringValue()).isEqualTo("pause");
        assertThat(entry.get("by").stringValue()).isEqualTo("user ada (oidc of acme)");
        assertThat(entry.get("tenant").stringValue()).isEqualTo("acme");
        assertThat(entry.get("key").isNull()).isTrue();
    }

    @Test
    void a_tenants_token_is_no_admins_and_one_for_everybody_says_so() throws Exception {
        String tenants =
                signed(key, claims().claim("reprise_scopes", "admin read").build());
        assertThat(server.send(tenants, "GET", "/v1/keys", null).status()).isEqualTo(403);
        String operators = signed(
                key,
                claims().claim("reprise_scopes", "admin")
                        .claim("reprise_tenant", "*")
                        .build());
        assertThat(server.send(operators, "GET", "/v1/keys", null).status()).isEqualTo(200);
    }

    @Test
    void a_scope_that_is_missing_is_written_down() throws Exception {
        String token = signed(key, claims().build());
        for (int i = 0; i < 2; i++) {
            assertThat(server.send(token, "POST", "/v1/queues/a/pause", "{}").status())
                    .isEqualTo(403);
        }
        JsonNode entries = server.get("/v1/audit").json().get("items");
        List<JsonNode> refused = entries.valueStream()
                .filter(entry -> entry.get("action").stringValue().equals("refused"))
                .toList();
        assertThat(refused).hasSize(1);
        assertThat(refused.get(0).get("why").stringValue()).isEqualTo("scope operate is needed");
        assertThat(refused.get(0).get("tenant").stringValue()).isEqualTo("acme");
    }

    @Test
    void what_the_provider_has_not_said_of_us_does_not_count() throws Exception {
        assertThat(list(signed(key, claims().build()))).isEqualTo(200);
        assertThat(list(signed(key("1"), claims().build())))
                .as("another's signature")
                .isEqualTo(401);
        assertThat(list(signed(key, claims().audience("other").build()))).isEqualTo(401);
        assertThat(list(signed(key, claims().issuer("http://other").build()))).isEqualTo(401);
        assertThat(list(signed(
                        key,
                        claims().expirationTime(Date.from(Instant.now().minusSeconds(3_600)))
                                .build())))
                .isEqualTo(401);
        assertThat(list(signed(key, claims().expirationTime(null).build()))).isEqualTo(401);
        assertThat(list(signed(key, claims().claim("reprise_tenant", null).build())))
                .as("no tenant is not everybody's")
                .isEqualTo(401);
        assertThat(list(signed(key, claims().claim("reprise_tenant", "../x").build())))
                .isEqualTo(401);
        assertThat(list(signed(key, claims().claim("reprise_scopes", List.of()).build())))
                .isEqualTo(401);
        SignedJWT shared = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims().build());
        shared.sign(new MACSigner(key.toPublicJWK().toJSONString().getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        assertThat(list(shared.serialize())).as("signed with what is public").isEqualTo(401);
        String none = "eyJhbGciOiJub25lIn0." + signed(key, claims().build()).split("\\.", -1)[1] + ".";
        assertThat(list(none)).as("not signed at all").isEqualTo(401);
    }

    @Test
    void a_provider_that_is_away_is_not_the_clients_fault_and_keys_go_on() throws Exception {
        down = true;
        assertThat(list(signed(key, claims().build()))).isEqualTo(503);
        assertThat(server.get("/v1/jobs").status()).isEqualTo(200);
    }

    @Test
    void a_provider_that_hangs_holds_up_neither_keys_nor_tokens_whose_key_is_known() throws Exception {
        String good = signed(key, claims().build());
        String unknown = signed(key("made-up"), claims().build());
        assertThat(list(good)).isEqualTo(200);
        hangs = new CountDownLatch(1);
        try (TestServer fresh = new TestServer(new Oidc(
                new Oidc.Settings(issuer, "reprise", "reprise_scopes", "reprise_tenant"), InstantSource.system()))) {
            AtomicInteger refused = new AtomicInteger();
            int many = 2 * HttpSettings.Limits.DEFAULT.threads();
            ExecutorService strangers = Executors.newCachedThreadPool();
            for (int n = 0; n < many; n++) {
                strangers.execute(() -> {
                    if (fresh.send(unknown, "GET", "/v1/jobs", null).status() == 503) {
                        refused.incrementAndGet();
                    }
                });
            }
            // All but the few that wait for the provider, which still hangs.
            TestServer.await(() -> refused.get() >= many - 10 ? true : null);
            assertThat(fresh.get("/v1/jobs").status()).isEqualTo(200);
            assertThat(list(good)).as("with a key that is known").isEqualTo(200);
            hangs.countDown();
            strangers.shutdown();
            assertThat(strangers.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        } finally {
            hangs.countDown();
        }
    }

    @Test
    void two_holders_whose_names_begin_alike_are_told_apart() throws Exception {
        String account = "system:serviceaccount:production-payments:worker-";
        for (String name : List.of("a", "b")) {
            String token = signed(
                    key,
                    claims().subject(account + name)
                            .claim("reprise_scopes", "operate")
                            .build());
            server.send(token, "POST", "/v1/queues/" + name + "/pause", "{}");
        }
        JsonNode entries = server.get("/v1/audit").json().get("items");
        String first = entries.get(0).get("by").stringValue();
        assertThat(first).startsWith("user system:serviceaccount:").endsWith(" (oidc of acme)");
        assertThat(entries.get(1).get("by").stringValue())
                .startsWith("user system:")
                .isNotEqualTo(first);
    }

    @Test
    void no_token_is_for_a_tenant_whose_name_is_reserved() throws Exception {
        for (String reserved : Tenancy.RESERVED) {
            assertThat(list(signed(
                            key, claims().claim("reprise_tenant", reserved).build())))
                    .as(reserved)
                    .isEqualTo(401);
        }
    }
}
