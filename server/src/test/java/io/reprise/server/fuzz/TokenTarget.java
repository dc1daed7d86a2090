// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.fuzz;

import io.reprise.remote.RemoteLease;
import io.reprise.server.auth.Gatekeeper;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Oidc;
import io.reprise.server.auth.Sessions;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Scope;
import io.reprise.testing.InMemoryJobStore;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;

/** API keys, tokens of providers, lease tokens and signing secrets: nobody is let in by a text that was made up. */
public final class TokenTarget {

    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-03-01T12:00:00Z"));

    private static final InMemoryJobStore STORE = new InMemoryJobStore();

    private static final Gatekeeper GATE = new Gatekeeper(
            new Sessions(new Keys(STORE, CLOCK), STORE, CLOCK),
            new Oidc(new Oidc.Settings("http://127.0.0.1:1", "a", "s", "t"), CLOCK),
            Integer.MAX_VALUE,
            CLOCK,
            new Gatekeeper.Witness() {
                @Override
                public void refused(String by, String subject, String why) {}

                @Override
                public void read(String by, String what) {}
            });

    private TokenTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        for (String header : new String[] {text, "Bearer " + text, "Session " + text, "Link " + text}) {
            try {
                GATE.admit(header, "192.0.2.1", Scope.READ);
                throw new IllegalStateException("let in");
            } catch (Problem e) {
                // As it must be.
            }
        }
        try {
            RemoteLease.Key key = RemoteLease.Key.parse(text);
            if (!RemoteLease.Key.parse(key.text()).equals(key)) {
                throw new IllegalStateException("another lease");
            }
        } catch (IllegalArgumentException e) {
            // Refused.
        }
        try {
            SigningSecret.parse(text);
        } catch (IllegalArgumentException e) {
            // Refused.
        }
    }
}
