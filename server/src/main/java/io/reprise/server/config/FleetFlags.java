// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import io.reprise.insight.AlertRules;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.Ceilings;
import io.reprise.settings.DefaultSettings;
import io.reprise.settings.FleetSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the fleet's settings that were given to the program: single ones, above those of a JSON file. */
public final class FleetFlags {

    private FleetFlags() {}

    /**
     * Returns the settings. They apply unless the store has others.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    public static FleetSettings of(Settings settings) {
        DefaultSettings defaults = new DefaultSettings(
                policy(settings),
                settings.textOrNull(Setting.RETRY_ENABLED) == null ? null : settings.flag(Setting.RETRY_ENABLED),
                settings.durationOrNull(Setting.RETRY_CHECK_INTERVAL),
                null,
                null,
                DefaultSettings.Keep.NONE,
                alerts(settings),
                null,
                null,
                new Ceilings(
                        numberOrNull(settings, Setting.CEILING_ATTEMPTS),
                        settings.durationOrNull(Setting.CEILING_DEADLINE),
                        numberOrNull(settings, Setting.CEILING_PAYLOAD),
                        numberOrNull(settings, Setting.CEILING_DEPTH)));
        FleetSettings single = new FleetSettings(defaults, Map.of(), Map.of(), Map.of());
        String file = settings.textOrNull(Setting.SETTINGS_FILE);
        return file == null ? single : single.orElse(file(file));
    }

    /**
     * Reads a file of settings.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    public static FleetSettings file(String name) {
        try {
            return FleetSettings.fromJson(Files.readString(Path.of(name)));
        } catch (IOException e) {
            throw new IllegalArgumentException("names a file that cannot be read: " + name, e);
        }
    }

    /**
     * Reads a policy: the name of a preset, or JSON.
     *
     * @throws IllegalArgumentException saying what is wrong
     */
    public static RetryPolicy policy(String text) {
        return text.startsWith("{") ? RetryPolicy.fromJson(text) : Presets.get(text);
    }

    private static @Nullable Integer numberOrNull(Settings settings, Setting setting) {
        return settings.textOrNull(setting) == null ? null : settings.number(setting);
    }

    private static RetryPolicy policy(Settings settings) {
        String given = settings.textOrNull(Setting.RETRY_POLICY);
        RetryPolicy policy = given == null ? RetryPolicy.unset() : policy(given);
        if (settings.textOrNull(Setting.RETRY_MAX_RETRIES) != null) {
            policy = policy.maxRetries(settings.number(Setting.RETRY_MAX_RETRIES));
        }
        if (settings.textOrNull(Setting.RETRY_BASE_DELAY) != null) {
            policy = policy.base(settings.duration(Setting.RETRY_BASE_DELAY));
        }
        if (settings.textOrNull(Setting.RETRY_MAX_DELAY) != null) {
            policy = policy.cap(settings.duration(Setting.RETRY_MAX_DELAY));
        }
        return policy;
    }

    private static @Nullable AlertRules alerts(Settings settings) {
        AlertRules rules = AlertRules.DEFAULT;
        if (settings.textOrNull(Setting.ALERT_WINDOW) != null) {
            rules = rules.windowMinutes(settings.number(Setting.ALERT_WINDOW));
        }
        if (settings.textOrNull(Setting.ALERT_RETRY_PERCENT) != null) {
            rules = rules.retryRate(settings.number(Setting.ALERT_RETRY_PERCENT) / 100.0, rules.minJobs());
        }
        if (settings.textOrNull(Setting.ALERT_RETRY_COUNT) != null) {
            rules = rules.retryCount(settings.number(Setting.ALERT_RETRY_COUNT));
        }
        if (settings.textOrNull(Setting.ALERT_DEAD_LETTERS) != null) {
            rules = rules.deadLetters(settings.number(Setting.ALERT_DEAD_LETTERS));
        }
        if (settings.textOrNull(Setting.ALERT_BACKOFF) != null) {
            rules = rules.backoff(settings.duration(Setting.ALERT_BACKOFF));
        }
        return rules.equals(AlertRules.DEFAULT) ? null : rules;
    }
}
