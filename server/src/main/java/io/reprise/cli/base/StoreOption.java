// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.server.config.Setting;
import io.reprise.server.config.Settings;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The store of a command. */
public final class StoreOption {

    @Option(
            names = {"--store", "--store-url"},
            paramLabel = "URL",
            description = "The store: a URL as 'reprise serve --store' takes it. Also REPRISE_STORE_URL.")
    @Nullable
    String store;

    @Option(names = "--config", paramLabel = "FILE", description = "A properties file with settings.")
    @Nullable
    Path config;

    public Settings settings() {
        try {
            return Settings.read(config, System.getenv(), store == null ? Map.of() : Map.of(Setting.STORE_URL, store));
        } catch (Settings.InvalidSettings e) {
            throw new BadInput(String.valueOf(e.getMessage()), e);
        }
    }
}
