// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The value of every setting and its source: a flag wins over the environment, which wins over the file. Immutable. */
public final class Settings {

    private static final Pattern PASSWORD = Pattern.compile("(://[^:/@]*:).*@|((?i:password)=)[^&;]*");
    private static final String PREFIX = "REPRISE_";

    /** The start script reads it. */
    private static final String JAVA_OPTS = "REPRISE_JAVA_OPTS";

    /** Reprise's own tests read it; they may start the program. */
    private static final String OF_TESTS = "REPRISE_TEST_";

    private static final String DEFAULT = "default";
    private static final String FILE = "_FILE";

    private static final Pattern SERVICE_LINK = Pattern.compile(
            "REPRISE_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_.*)?)|REPRISE_PORT");

    /** The value of {@code REPRISE_HTTP_PORT} beside a Kubernetes Service named reprise-http. */
    private static final Pattern SERVICE_URL = Pattern.compile("(tcp|udp|sctp)://.*");

    /** A value with its source, in words. */
    private record Given(String value, String source) {}

    private final Map<Setting, Given> given;
    private final List<String> warnings;

    private Settings(Map<Setting, Given> given, List<String> warnings) {
        this.given = given;
        this.warnings = List.copyOf(warnings);
    }

    /**
     * Reads settings and checks all of them.
     *
     * @param file a properties file, or null
     * @param flags values from the command line
     * @throws InvalidSettings naming every error
     */
    public static Settings read(@Nullable Path file, Map<String, String> environment, Map<Setting, String> flags) {
        return read(file, environment, flags, Map.of());
    }

    /**
     * Reads settings and checks all of them, with additional checks.
     *
     * @param checks each throws an {@link IllegalArgumentException} that says what is wrong with a value
     */
    public static Settings read(
            @Nullable Path file,
            Map<String, String> environment,
            Map<Setting, String> flags,
            Map<Setting, Consumer<String>> checks) {
        List<String> errors = new ArrayList<>();
        Map<Setting, Given> given = new EnumMap<>(Setting.class);
        Map<String, String> fromFile = file == null ? Map.of() : load(file, errors);
        Map<String, Setting> keys = new HashMap<>();
        for (Setting setting : Setting.values()) {
            keys.put(setting.key(), setting);
            keys.put(setting.variable(), setting);
            if (setting.otherwise() != null) {
                given.put(setting, new Given(setting.otherwise(), DEFAULT));
            }
        }
        fromFile.forEach((key, value) -> put(given, keys, key, value, String.valueOf(file), errors));
        List<String> warnings = new ArrayList<>();
        environment.forEach((key, value) -> {
            if (key.startsWith(PREFIX)
                    && !key.startsWith(OF_TESTS)
                    && !key.equals(JAVA_OPTS)
                    && !isServiceLink(key, value)) {
                putVariable(given, keys, new Variable(key, value), warnings, errors);
            }
        });
        flags.forEach((setting, value) -> {
            given.put(setting, new Given(value, "command line"));
            if (!shown(setting, value).equals(value)) {
                warnings.add(setting.flag() + " holds what other users of the machine should not see, and can: use "
                        + setting.variable() + " or " + setting.variable() + FILE);
            }
        });
        check(given, checks, errors);
        if (!errors.isEmpty()) {
            throw new InvalidSettings(errors);
        }
        return new Settings(given, warnings);
    }

    /** Returns warnings, which stop nothing. */
    public List<String> warnings() {
        return warnings;
    }

    private record Variable(String name, String value) {}

    /**
     * Reads a variable. An unknown variable may belong to another program, so it only gives a warning. With the suffix
     * {@code _FILE} a variable names a file that holds the value.
     */
    private static void putVariable(
            Map<Setting, Given> given,
            Map<String, Setting> keys,
            Variable variable,
            List<String> warnings,
            List<String> errors) {
        String name = variable.name;
        if (keys.containsKey(name)) {
            put(given, keys, name, variable.value, "environment", errors);
            return;
        }
        String setting = name.endsWith(FILE) ? name.substring(0, name.length() - FILE.length()) : name;
        if (keys.containsKey(setting)) {
            try {
                put(
                        given,
                        keys,
                        setting,
                        Files.readString(Path.of(variable.value)).strip(),
                        "file " + variable.value,
                        errors);
            } catch (IOException | InvalidPathException e) {
                errors.add(name + " (environment) names a file that cannot be read: " + variable.value);
            }
        } else {
            warnings.add("'" + name + "' (environment) is not a setting");
        }
    }

    /**
     * Whether Kubernetes set the variable. It sets such variables in every pod beside a Service named reprise, or
     * reprise-http and the like.
     */
    private static boolean isServiceLink(String name, String value) {
        return SERVICE_LINK.matcher(name).matches()
                || SERVICE_URL.matcher(value).matches();
    }

    private static void put(
            Map<Setting, Given> given,
            Map<String, Setting> keys,
            String key,
            String value,
            String source,
            List<String> errors) {
        Setting setting = keys.get(key);
        if (setting == null) {
            errors.add("'" + key + "' (" + source + ") is not a setting");
        } else {
            given.put(setting, new Given(value, source));
        }
    }

    private static void check(Map<Setting, Given> given, Map<Setting, Consumer<String>> checks, List<String> errors) {
        given.forEach((setting, value) -> {
            try {
                setting.check(value.value.trim());
                checks.getOrDefault(setting, any -> {}).accept(value.value.trim());
            } catch (IllegalArgumentException e) {
                errors.add(setting.key() + " (" + value.source + "): " + e.getMessage());
            }
        });
        if (given.containsKey(Setting.TLS_KEY_STORE) != given.containsKey(Setting.TLS_PASSWORD)) {
            errors.add("tls.key-store and tls.password must be set together");
        }
        if (given.containsKey(Setting.OIDC_ISSUER) != given.containsKey(Setting.OIDC_AUDIENCE)) {
            errors.add("oidc.issuer and oidc.audience must be set together");
        }
        if (given.containsKey(Setting.TLS_CERTIFICATE) != given.containsKey(Setting.TLS_KEY)) {
            errors.add("tls.certificate and tls.key must be set together");
        }
        if (given.containsKey(Setting.TLS_CERTIFICATE) && given.containsKey(Setting.TLS_KEY_STORE)) {
            errors.add("tls.certificate and tls.key-store must not be set together");
        }
        if (given.containsKey(Setting.TLS_CLIENT_CA)
                && !given.containsKey(Setting.TLS_CERTIFICATE)
                && !given.containsKey(Setting.TLS_KEY_STORE)) {
            errors.add("tls.client-ca needs tls.certificate or tls.key-store");
        }
    }

    private static Map<String, String> load(Path file, List<String> errors) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (NoSuchFileException e) {
            errors.add("cannot read " + file + ": there is no such file");
        } catch (IOException | IllegalArgumentException e) {
            errors.add("cannot read " + file + ": " + e.getMessage());
        }
        Map<String, String> values = new HashMap<>();
        properties.stringPropertyNames().forEach(name -> values.put(name, properties.getProperty(name)));
        return values;
    }

    /** Whether a value was given, rather than the default. */
    public boolean isGiven(Setting setting) {
        Given value = given.get(setting);
        return value != null && !value.source.equals(DEFAULT);
    }

    public String text(Setting setting) {
        return Objects.requireNonNull(textOrNull(setting), setting.key());
    }

    public @Nullable String textOrNull(Setting setting) {
        Given value = given.get(setting);
        return value == null ? null : value.value.trim();
    }

    /** Returns the values of a list with commas; empty if it is not set. */
    public List<String> list(Setting setting) {
        String value = textOrNull(setting);
        return value == null
                ? List.of()
                : Arrays.stream(value.split(",", -1)).map(String::trim).toList();
    }

    public boolean flag(Setting setting) {
        return Boolean.parseBoolean(text(setting));
    }

    public int number(Setting setting) {
        return Integer.parseInt(text(setting));
    }

    public long large(Setting setting) {
        return Long.parseLong(text(setting));
    }

    public Duration duration(Setting setting) {
        return Durations.parse(text(setting));
    }

    public @Nullable Duration durationOrNull(Setting setting) {
        String value = textOrNull(setting);
        return value == null ? null : Durations.parse(value);
    }

    /** Prints every setting of the server as a line of a properties file, with its source. Secrets are masked. */
    public String print() {
        StringBuilder text = new StringBuilder();
        for (Setting setting : Setting.values()) {
            if (setting.isForCommands()) {
                continue;
            }
            Given value = given.get(setting);
            text.append("# ").append(setting.about()).append('\n');
            if (value == null) {
                text.append("# ").append(setting.key()).append(" is not set\n");
            } else {
                text.append(setting.key()).append('=').append(shown(setting, value.value));
                text.append("   # ").append(value.source).append('\n');
            }
        }
        return text.toString();
    }

    private static String shown(Setting setting, String value) {
        return setting.isSecret()
                ? "********"
                : PASSWORD.matcher(value)
                        .replaceAll(match ->
                                match.group(1) != null ? match.group(1) + "********@" : match.group(2) + "********");
    }

    /** Thrown if settings cannot be used. The message names all of them. */
    public static final class InvalidSettings extends IllegalArgumentException {

        private static final long serialVersionUID = 1L;

        InvalidSettings(List<String> errors) {
            super((errors.size() == 1 ? "A setting is" : errors.size() + " settings are") + " wrong:\n  "
                    + String.join("\n  ", errors));
        }
    }
}
