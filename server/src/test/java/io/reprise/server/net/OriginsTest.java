// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.delivery.TrustedProxies;
import java.util.List;
import org.junit.jupiter.api.Test;

class OriginsTest {

    private final Origins origins = new Origins(new TrustedProxies(List.of("10.0.0.0/8", "::1")));

    @Test
    void only_a_trusted_proxy_says_who_it_stands_for() {
        assertThat(origins.of("192.0.2.1", List.of(), List.of("1.2.3.4"))).isEqualTo("192.0.2.1");
        assertThat(origins.of("10.0.0.1", List.of(), List.of("1.2.3.4"))).isEqualTo("1.2.3.4");
        assertThat(origins.of("10.0.0.1", List.of(), List.of())).isEqualTo("10.0.0.1");
    }

    @Test
    void what_a_client_made_up_before_the_proxy_does_not_count() {
        assertThat(origins.of("10.0.0.1", List.of(), List.of("6.6.6.6, 1.2.3.4, 10.0.0.2")))
                .isEqualTo("1.2.3.4");
        assertThat(origins.of("10.0.0.1", List.of(), List.of("6.6.6.6", "1.2.3.4")))
                .isEqualTo("1.2.3.4");
    }

    @Test
    void the_standard_header_counts_first_in_all_its_forms() {
        assertThat(origins.of(
                        "::1", List.of("for=6.6.6.6, for=\"[2001:db8::1]:4711\";proto=https"), List.of("9.9.9.9")))
                .isEqualTo("2001:db8::1");
        assertThat(origins.of("::1", List.of("proto=https;For=1.2.3.4:80"), List.of()))
                .isEqualTo("1.2.3.4");
    }
}
