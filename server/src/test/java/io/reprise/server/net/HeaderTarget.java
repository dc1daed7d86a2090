// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import io.reprise.server.config.Durations;
import io.reprise.server.delivery.TrustedProxies;
import io.reprise.server.http.ETags;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Headers: who asks behind proxies, conditions, durations. Any text is taken or refused. */
public final class HeaderTarget {

    private static final Origins ORIGINS = new Origins(new TrustedProxies(List.of("10.0.0.0/8", "::1")));

    private HeaderTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        ORIGINS.of("10.0.0.1", List.of(text), List.of());
        ORIGINS.of("10.0.0.1", List.of(), List.of(text, text));
        ETags.match(text, "\"1\"");
        try {
            Durations.parse(text);
        } catch (IllegalArgumentException e) {
            // Refused, and says why.
        }
    }
}
