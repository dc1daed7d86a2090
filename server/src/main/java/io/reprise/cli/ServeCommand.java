// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Stores;
import io.reprise.cli.simulate.SimulationEndpoints;
import io.reprise.cli.terminal.CtrlC;
import io.reprise.cli.terminal.Terminal;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlSettings;
import io.reprise.encryption.EncryptionKeys;
import io.reprise.job.AuditNote;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.RepriseException;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Oidc;
import io.reprise.server.auth.Quotas;
import io.reprise.server.config.FleetFlags;
import io.reprise.server.config.LogSettings;
import io.reprise.server.config.Setting;
import io.reprise.server.config.Settings;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.delivery.TrustedProxies;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "serve",
        description = "Run the server: jobs over HTTP, remote workers, events, metrics.",
        footer = {
            "",
            "Every setting is also a line of the file (http.port=8080) and a variable of the",
            "environment (REPRISE_HTTP_PORT=8080). A flag beats the environment, which beats",
            "the file.",
            "",
            "The first start prints an admin key, once, and listens on the loopback address",
            "only.",
            "",
            "Examples:",
            "  reprise serve",
            "  reprise serve --store postgresql://reprise@db/jobs --http-port 8081",
            "  reprise serve --config reprise.properties --print-config"
        })
final class ServeCommand implements Callable<Integer> {

    private static final Duration FOREVER = Duration.ofDays(36_500);
    private static final String LOOPBACK = "127.0.0.1";

    /** Jetty's property for the number of references that fit into a CPU cache line. */
    private static final String CACHE_LINE = "org.eclipse.jetty.util.referencesPerCacheLine";

    /** Time for requests under way, for cancelled handlers, and for the last call of the store. */
    private static final Duration STOP_SLACK = Duration.ofSeconds(40);

    /** Threads only begin calls: a running call holds no thread. */
    private static final int THREADS = 8;

    private static final Duration CANCEL_GRACE = Duration.ofSeconds(2);

    private final Terminal terminal;

    @Option(names = "--config", paramLabel = "FILE", description = "A properties file with settings.")
    @Nullable
    Path config;

    @Option(names = "--print-config", description = "Print every setting and where it came from, and exit.")
    boolean printConfig;

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    @Spec
    @Nullable
    CommandSpec spec;

    /** Id of the admin key that this start made up; null if there was a key. */
    private @Nullable String madeUp;

    ServeCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Returns the command with a flag for every setting. */
    static CommandLine line(Terminal terminal) {
        CommandLine line = new CommandLine(new ServeCommand(terminal));
        for (Setting setting : Setting.values()) {
            if (setting.isForCommands()) {
                continue;
            }
            String otherwise = setting.otherwise() == null ? "" : " Unless set: " + setting.otherwise() + ".";
            line.getCommandSpec()
                    .addOption(OptionSpec.builder(names(setting))
                            .type(String.class)
                            .paramLabel("VALUE")
                            .description(setting.about() + otherwise)
                            .build());
        }
        return line;
    }

    /** The store also has the short name that other commands give it. */
    private static String[] names(Setting setting) {
        return setting == Setting.STORE_URL ? new String[] {"--store", setting.flag()} : new String[] {setting.flag()};
    }

    @Override
    public Integer call() throws Exception {
        Settings settings = settings();
        settings.warnings().forEach(warning -> terminal.err().println("reprise: " + warning));
        if (printConfig) {
            terminal.out().print(settings.print());
            return ExitCode.OK;
        }
        LogSettings.apply(settings);
        if (System.getProperty(CACHE_LINE) == null) {
            // Without this property Jetty starts JMX to find the value, which takes longer than opening the store.
            System.setProperty(CACHE_LINE, "16");
        }
        Duration drain = settings.duration(Setting.HTTP_DRAIN);
        // The end of the process waits as long as all steps together may take.
        Duration most = drain.plus(settings.duration(Setting.WORKER_STOP_GRACE)).plus(STOP_SLACK);
        try (CtrlC ctrlC = CtrlC.listen(most);
                RepriseServer server = start(settings)) {
            terminal.out().println("Reprise listens on " + server.url());
            if (madeUp != null) {
                terminal.out().println("Log in once, within 15 minutes: " + server.loginLink(madeUp));
            }
            terminal.out().flush();
            ctrlC.await(FOREVER);
            server.drain(drain);
        }
        return ExitCode.OK;
    }

    private Settings settings() {
        Map<Setting, String> flags = new EnumMap<>(Setting.class);
        if (spec != null) {
            CommandLine.ParseResult parsed = spec.commandLine().getParseResult();
            for (Setting setting : Setting.values()) {
                String value = parsed.matchedOptionValue(setting.flag(), (String) null);
                if (value != null) {
                    flags.put(setting, value);
                }
            }
        }
        try {
            return Settings.read(config, System.getenv(), flags, ServeChecks.ALL);
        } catch (Settings.InvalidSettings e) {
            throw new BadInput(String.valueOf(e.getMessage()), e);
        }
    }

    private RepriseServer start(Settings settings) throws IOException {
        if (Stores.isInTheClear(settings.text(Setting.STORE_URL))) {
            terminal.err()
                    .println("reprise: WARNING: the URL of the store has no sslmode: whether the connection is"
                            + " encrypted is left to the other side; use sslmode=verify-full");
        }
        JobStore store = Stores.open(settings);
        try {
            prepare(store, settings.text(Setting.STORE_MIGRATE));
            boolean first = settings.textOrNull(Setting.ADMIN_KEY) == null
                    && keys(store).isEmpty();
            String name = settings.textOrNull(Setting.WORKER_NAME);
            RepriseServer.Parts parts = new RepriseServer.Parts(
                    name == null ? "server-" + UUID.randomUUID() : name,
                    version(),
                    http(settings, first),
                    settings.number(Setting.HTTP_RATE_LIMIT),
                    outgoing(settings, store),
                    quotas(settings),
                    oidc(settings),
                    settings.flag(Setting.AUDIT_READS),
                    List.of(SimulationEndpoints::new));
            RepriseServer server = RepriseServer.start(builder(settings), store, parts);
            try {
                // Only now: a key that was printed before a port in use ended the start would be lost.
                firstKey(store, settings.textOrNull(Setting.ADMIN_KEY));
            } catch (RuntimeException e) {
                server.close();
                throw e;
            }
            return server;
        } catch (IOException e) {
            store.close();
            throw new BadInput(String.valueOf(e.getMessage()), e);
        } catch (RepriseException e) {
            store.close();
            throw Stores.unusable(e);
        }
    }

    private static @Nullable Oidc oidc(Settings settings) {
        String issuer = settings.textOrNull(Setting.OIDC_ISSUER);
        return issuer == null
                ? null
                : new Oidc(
                        new Oidc.Settings(
                                issuer,
                                settings.text(Setting.OIDC_AUDIENCE),
                                settings.text(Setting.OIDC_SCOPES_CLAIM),
                                settings.text(Setting.OIDC_TENANT_CLAIM)),
                        InstantSource.system());
    }

    private static Quotas.Limits quotas(Settings settings) {
        return new Quotas.Limits(
                settings.number(Setting.QUOTA_JOBS),
                settings.large(Setting.QUOTA_BYTES),
                settings.number(Setting.QUOTA_QUEUES),
                settings.number(Setting.QUOTA_SCHEDULES),
                settings.number(Setting.QUOTA_WEBHOOKS),
                settings.number(Setting.QUOTA_STREAMS),
                settings.number(Setting.QUOTA_JOBS_PER_SECOND),
                settings.number(Setting.QUOTA_BYTES_PER_SECOND));
    }

    private static void prepare(JobStore store, String how) {
        if (how.equals("true")) {
            store.prepare();
        } else if (how.equals("check")) {
            store.requirePrepared();
        }
    }

    static Outgoing outgoing(Settings settings, JobStore store) {
        Set<Integer> ports = settings.list(Setting.DELIVERY_PORTS).stream()
                .map(Integer::valueOf)
                .collect(Collectors.toSet());
        List<String> keys = settings.list(Setting.ENCRYPTION_KEYS);
        return new Outgoing(
                store,
                checked(
                        Setting.DELIVERY_ALLOW,
                        () -> new OutboundGuard(
                                settings.list(Setting.DELIVERY_ALLOW),
                                ports,
                                Resolver.SYSTEM,
                                settings.duration(Setting.DELIVERY_MAX_TIMEOUT))),
                checked(
                        Setting.DELIVERY_SECRET,
                        () -> settings.list(Setting.DELIVERY_SECRET).stream()
                                .map(SigningSecret::parse)
                                .toList()),
                keys.isEmpty() ? null : checked(Setting.ENCRYPTION_KEYS, () -> EncryptionKeys.parse(keys)),
                UnaryOperator.identity(),
                new CallShares(settings.number(Setting.WORKER_CONCURRENCY)));
    }

    private static <T> T checked(Setting setting, Supplier<T> read) {
        try {
            return read.get();
        } catch (IllegalArgumentException e) {
            throw new BadInput(setting.key() + ": " + e.getMessage(), e);
        }
    }

    /**
     * Creates the first key. Without a key nobody could use the server.
     */
    private void firstKey(JobStore store, @Nullable String given) {
        Keys keys = keys(store);
        if (!keys.isEmpty()) {
            return;
        }
        if (given != null) {
            keys.create(given, "first", Set.of(Scope.ADMIN), null, new AuditNote("reprise", "first start"));
            return;
        }
        Keys.NewKey key = keys.create("first", Set.of(Scope.ADMIN), null, new AuditNote("reprise", "first start"));
        terminal.out().println("There was no API key yet. This admin key is shown once and stored nowhere else:");
        terminal.out().println();
        terminal.out().println("  " + key.text());
        terminal.out().println();
        madeUp = String.valueOf(key.view().get("id"));
        terminal.out().flush();
    }

    private static Keys keys(JobStore store) {
        return new Keys(store, InstantSource.system());
    }

    private HttpSettings http(Settings settings, boolean first) {
        String host = settings.text(Setting.HTTP_HOST);
        if (first && !isLoopback(host)) {
            terminal.err()
                    .println("reprise: listening on " + LOOPBACK + " instead of " + host
                            + " this time, because there was no key; start it again with the key in hand");
            host = LOOPBACK;
        }
        HttpSettings.Tls tls = tls(settings);
        if (!isLoopback(host) && tls == null) {
            terminal.err()
                    .println("reprise: WARNING: " + host
                            + " is not the loopback address and there is no TLS: keys cross the network"
                            + " in the clear unless a proxy stands before it");
        }
        int perAddress = settings.number(Setting.HTTP_MAX_CONNECTIONS_PER_ADDRESS);
        HttpSettings.Limits limits = new HttpSettings.Limits(
                        settings.number(Setting.HTTP_MAX_BODY),
                        settings.number(Setting.HTTP_MAX_HEADER),
                        settings.number(Setting.HTTP_MAX_CONNECTIONS),
                        settings.duration(Setting.HTTP_IDLE_TIMEOUT),
                        settings.duration(Setting.HTTP_IDLE_TIMEOUT),
                        settings.number(Setting.HTTP_THREADS))
                .perAddress(perAddress);
        HttpSettings.Proxies proxies = new HttpSettings.Proxies(
                new TrustedProxies(settings.list(Setting.HTTP_TRUSTED_PROXIES)),
                settings.flag(Setting.HTTP_PROXY_PROTOCOL));
        return new HttpSettings(host, settings.number(Setting.HTTP_PORT), limits, tls, proxies);
    }

    private static HttpSettings.@Nullable Tls tls(Settings settings) {
        String keyStore = settings.textOrNull(Setting.TLS_KEY_STORE);
        String chain = settings.textOrNull(Setting.TLS_CERTIFICATE);
        if (keyStore == null && chain == null) {
            return null;
        }
        HttpSettings.Tls tls = chain != null
                ? HttpSettings.Tls.pem(Path.of(chain), Path.of(settings.text(Setting.TLS_KEY)))
                : HttpSettings.Tls.keyStore(
                        Path.of(settings.text(Setting.TLS_KEY_STORE)), settings.text(Setting.TLS_PASSWORD));
        String authorities = settings.textOrNull(Setting.TLS_CLIENT_CA);
        return authorities == null ? tls : tls.clientsOf(Path.of(authorities));
    }

    private static String[] offers(Settings settings) {
        return Needs.require(settings.list(Setting.WORKER_OFFERS)).toArray(String[]::new);
    }

    private static RepriseBuilder builder(Settings settings) {
        RepriseBuilder builder = Reprise.builder()
                .migrate(false)
                .concurrency(settings.number(Setting.WORKER_CONCURRENCY))
                .threads(THREADS)
                .offers(checked(Setting.WORKER_OFFERS, () -> offers(settings)))
                .lease(settings.duration(Setting.WORKER_LEASE))
                .control(ControlSettings.DEFAULT.resourceBudget(BudgetSettings.OF_RESOURCE
                        .capacity(settings.number(Setting.BUDGET_CAPACITY))
                        .floor(settings.number(Setting.BUDGET_FLOOR))))
                .stopGrace(settings.duration(Setting.WORKER_STOP_GRACE))
                .cancelGrace(CANCEL_GRACE)
                .keepFinished(settings.duration(Setting.KEEP_FINISHED))
                .keepAudit(settings.duration(Setting.KEEP_AUDIT))
                .fleetSettings(checked(Setting.RETRY_POLICY, () -> FleetFlags.of(settings)));
        Duration keepFailed = settings.durationOrNull(Setting.KEEP_FAILED);
        return keepFailed == null ? builder : builder.keepFailed(keepFailed);
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static String version() {
        String own = ServeCommand.class.getPackage().getImplementationVersion();
        return own == null ? "(not packaged)" : own;
    }
}
