// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.Stores;
import io.reprise.encryption.EncryptionKeys;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Oidc;
import io.reprise.server.config.Durations;
import io.reprise.server.config.FleetFlags;
import io.reprise.server.config.LogSettings;
import io.reprise.server.config.Setting;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.delivery.TrustedProxies;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Checks of settings that only parts of the server can make. They run with the other checks, so that all
 * errors are reported together.
 */
final class ServeChecks {

    static final Map<Setting, Consumer<String>> ALL = Map.ofEntries(
            entry(Setting.STORE_URL, Stores::requireKnownKind),
            entry(Setting.DELIVERY_ALLOW, value -> new OutboundGuard(list(value), Set.of(), Resolver.SYSTEM)),
            entry(Setting.DELIVERY_SECRET, value -> list(value).forEach(SigningSecret::parse)),
            entry(Setting.ENCRYPTION_KEYS, value -> EncryptionKeys.parse(list(value))),
            entry(Setting.TLS_KEY_STORE, ServeChecks::requireReadable),
            entry(Setting.TLS_CERTIFICATE, ServeChecks::requireReadable),
            entry(Setting.TLS_KEY, ServeChecks::requireReadable),
            entry(Setting.TLS_CLIENT_CA, ServeChecks::requireReadable),
            entry(Setting.RETRY_POLICY, FleetFlags::policy),
            entry(Setting.SETTINGS_FILE, FleetFlags::file),
            entry(Setting.RETRY_CHECK_INTERVAL, ServeChecks::requirePoll),
            entry(Setting.LOG_FORMAT, LogSettings::requireFormat),
            entry(Setting.LOG_LEVEL, LogSettings::requireLevel),
            entry(Setting.STORE_MIGRATE, ServeChecks::requireMigration),
            entry(Setting.OIDC_ISSUER, Oidc::requireIssuer),
            entry(Setting.ADMIN_KEY, Keys::requireKey),
            entry(Setting.HTTP_TRUSTED_PROXIES, value -> new TrustedProxies(list(value))));

    private static final Duration SHORTEST_POLL = Duration.ofMillis(10);
    private static final Duration LONGEST_POLL = Duration.ofMinutes(1);

    private static Map.Entry<Setting, Consumer<String>> entry(Setting setting, Consumer<String> check) {
        return Map.entry(setting, check);
    }

    private ServeChecks() {}

    private static List<String> list(String value) {
        return Arrays.stream(value.split(",", -1)).map(String::trim).toList();
    }

    private static void requirePoll(String value) {
        Duration poll = Durations.parse(value);
        if (poll.compareTo(SHORTEST_POLL) < 0 || poll.compareTo(LONGEST_POLL) > 0) {
            throw new IllegalArgumentException("must be 10ms to 60s, not '" + value + "'");
        }
    }

    private static void requireMigration(String value) {
        if (!List.of("true", "check", "false").contains(value)) {
            throw new IllegalArgumentException("must be true, check or false, not '" + value + "'");
        }
    }

    private static void requireReadable(String file) {
        if (!Files.isReadable(Path.of(file))) {
            throw new IllegalArgumentException("names a file that cannot be read: " + file);
        }
    }
}
