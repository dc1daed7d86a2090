// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against the reference implementation of Standard Webhooks. */
class SigningSecretTest {

    private final SecureRandom random = new SecureRandom();
    private final SigningSecret secret = SigningSecret.random(random);
    private final Instant now = Instant.now();

    private static Map<String, List<String>> lists(Map<String, String> headers) {
        Map<String, List<String>> lists = new HashMap<>();
        headers.forEach((name, value) -> lists.put(name, List.of(value)));
        return lists;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "{\"name\":\"Größe 😀\"}", "not json at all\n"})
    void the_reference_implementation_accepts_it(String body) throws Exception {
        Map<String, String> headers = SigningSecret.headers(List.of(secret), "msg_1", now, body);
        new Webhook(secret.reveal()).verify(body, lists(headers));
        assertThat(headers.get("webhook-signature"))
                .isEqualTo(new Webhook(secret.reveal()).sign("msg_1", now.getEpochSecond(), body));
    }

    @Test
    void it_refuses_what_was_changed() {
        Map<String, String> headers = SigningSecret.headers(List.of(secret), "msg_1", now, "{}");
        assertThatExceptionOfType(WebhookVerificationException.class)
                .isThrownBy(() -> new Webhook(secret.reveal()).verify("{ }", lists(headers)));
        headers.put("webhook-id", "msg_2");
        assertThatExceptionOfType(WebhookVerificationException.class)
                .isThrownBy(() -> new Webhook(secret.reveal()).verify("{}", lists(headers)));
    }

    @Test
    void while_a_secret_rotates_either_will_do() throws Exception {
        SigningSecret next = SigningSecret.random(random);
        Map<String, String> headers = SigningSecret.headers(List.of(next, secret), "msg_1", now, "{}");
        new Webhook(secret.reveal()).verify("{}", lists(headers));
        new Webhook(next.reveal()).verify("{}", lists(headers));
    }

    @Test
    void a_secret_comes_back_as_it_was_and_does_not_show_itself() throws Exception {
        SigningSecret read = SigningSecret.parse(secret.reveal());
        assertThat(read.reveal()).isEqualTo(secret.reveal());
        assertThat(read.toString()).doesNotContain(secret.reveal().substring(6, 12));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "whsec_", "whsec_AAAA", "secret", "whsec_***", "WHSEC_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
    void what_is_no_secret_is_refused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SigningSecret.parse(text))
                .withNoCause();
    }

    @Test
    void each_tenant_has_a_secret_of_its_own() {
        SigningSecret secret = SigningSecret.random(new java.security.SecureRandom());
        assertThat(secret.of("").reveal()).isEqualTo(secret.reveal());
        assertThat(secret.of("acme").reveal())
                .isEqualTo(secret.of("acme").reveal())
                .isNotEqualTo(secret.of("evil").reveal())
                .isNotEqualTo(secret.reveal());
        assertThat(SigningSecret.parse(secret.of("acme").reveal()).reveal())
                .isEqualTo(secret.of("acme").reveal());
    }
}
