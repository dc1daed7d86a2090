// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.encryption.EncryptionKeys;
import io.reprise.server.config.Setting;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.delivery.SigningSecret;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** What only the parts of the server know about the values of its settings, so that it is said together with the rest. */
final class ServeChecks {

    static final Map<Setting, Consumer<String>> ALL = Map.of(
            Setting.STORE_URL, Stores::requireKnownKind,
            Setting.DELIVERY_ALLOW, value -> new OutboundGuard(list(value), Set.of(), Resolver.SYSTEM),
            Setting.DELIVERY_SECRET, value -> list(value).forEach(SigningSecret::parse),
            Setting.ENCRYPTION_KEYS, value -> EncryptionKeys.parse(list(value)),
            Setting.TLS_KEY_STORE, ServeChecks::requireReadable);

    private ServeChecks() {}

    private static List<String> list(String value) {
        return Arrays.stream(value.split(",", -1)).map(String::trim).toList();
    }

    private static void requireReadable(String file) {
        if (!Files.isReadable(Path.of(file))) {
            throw new IllegalArgumentException("names a file that cannot be read: " + file);
        }
    }
}
