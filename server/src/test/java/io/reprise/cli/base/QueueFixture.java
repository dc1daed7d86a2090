// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.cli.Cli;
import io.reprise.job.AuditNote;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.config.Setting;
import io.reprise.server.config.Settings;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** A real server on a real socket and a store, and the program pointed at either of the two. */
public final class QueueFixture implements AutoCloseable {

    /** How the program gets at the queue. */
    public enum Way {
        SERVER,
        STORE
    }

    /** What jobs of type "broken" do. */
    volatile boolean repaired;

    final String storeUrl;
    public final RepriseServer server;
    final String key;

    public QueueFixture(Path directory) {
        this("sqlite:" + directory.resolve("jobs.db"));
    }

    public QueueFixture(String storeUrl) {
        this.storeUrl = storeUrl;
        JobStore store = Stores.open(Settings.read(null, Map.of(), Map.of(Setting.STORE_URL, storeUrl)));
        store.prepare();
        key = new Keys(store, InstantSource.system())
                .create("admin", Set.of(Scope.ADMIN), null, new AuditNote("test", null))
                .text();
        Outgoing outgoing =
                new Outgoing(store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null);
        try {
            server = RepriseServer.start(
                    Reprise.builder()
                            .poll(Duration.ofMillis(50))
                            .handle(JobType.of("fine", Object.class), (payload, job) -> {})
                            .handle(JobType.of("broken", Object.class), (payload, job) -> {
                                if (!repaired) {
                                    throw new IllegalArgumentException("it is\u001b[31m broken");
                                }
                            }),
                    store,
                    new RepriseServer.Parts(
                            "test-server",
                            "test",
                            new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                            1_000_000,
                            outgoing,
                            List.of()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Cli run(Way way, String... args) {
        return runWith(way, "", args);
    }

    public Cli runWith(Way way, String input, String... args) {
        Stream<String> where =
                way == Way.SERVER ? Stream.of("--server", server.url(), "--key", key) : Stream.of("--store", storeUrl);
        return Cli.runWith(input, Stream.concat(Arrays.stream(args), where).toArray(String[]::new));
    }

    /** A dead letter of type "broken". */
    public String deadLetter(String... options) {
        Stream<String> args = Stream.concat(
                Stream.of("jobs", "enqueue", "broken", "--wait", "60s", "--json"), Arrays.stream(options));
        Cli run = run(Way.SERVER, args.toArray(String[]::new));
        if (run.code() != ExitCode.FINDING) {
            throw new AssertionError(run);
        }
        return run.json().path("id").stringValue();
    }

    @Override
    public void close() {
        server.close();
    }
}
