// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.terminal.CtrlC;
import io.reprise.cli.terminal.Terminal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "demo",
        sortOptions = false,
        description = "Run a few unreliable jobs on a real queue and watch them fail, wait, recover or die.",
        footer = {
            "",
            "What you see: an e-mail server that refuses three in ten, a card acquirer that is down for a while and",
            "says when to come back, images that hang once, a feed that is gone for good, a report that asks to be",
            "called later, a schedule, and a unique job that was asked for three times.",
            "",
            "Examples:",
            "  reprise demo",
            "  reprise demo --plain --seconds 5",
            "  reprise demo --serve                      watch an outage in the dashboard",
            "  reprise demo --db demo.db --forever       stop it and go on later"
        })
public final class DemoCommand implements Callable<Integer> {

    private static final int MIN_SECONDS = 1;
    private static final int MAX_SECONDS = 86_400;

    private final Terminal terminal;
    private final RepriseCommand root;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "How long to run, 1 to 86400; 20 unless given. A shorter demo runs faster.")
    int seconds = (int) DemoJobs.FULL_LENGTH.toSeconds();

    @Option(names = "--forever", description = "Run until Ctrl-C.")
    boolean forever;

    @Option(
            names = "--db",
            paramLabel = "FILE",
            description = "Keep the jobs in this SQLite file; otherwise in a temporary one.")
    @Nullable
    Path db;

    @Option(
            names = "--serve",
            description = "Start the server with trouble of its own, and print one link to its dashboard.")
    boolean serve;

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            description = "Where --serve listens, on the loopback address; 8080 unless given.")
    int port = 8080;

    @Option(names = "--plain", description = "One line per event, even on a terminal. Implied by --verbose.")
    boolean plain;

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    public DemoCommand(Terminal terminal, RepriseCommand root) {
        this.terminal = terminal;
        this.root = root;
    }

    @Override
    public Integer call() throws Exception {
        if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) {
            throw new BadInput("Invalid value for option '--seconds': it is " + seconds + " but must be " + MIN_SECONDS
                    + " to " + MAX_SECONDS);
        }
        if (!root.verbose && System.getProperty("reprise.log.level") == null) {
            // The demo shows each dead letter itself. The engine's warning would break the picture.
            System.setProperty("reprise.log.level", "ERROR");
        }
        if (serve) {
            try (CtrlC ctrlC = CtrlC.listen();
                    DemoFile file = DemoFile.of(db)) {
                new ServedDemo(terminal.out()).run(file.path(), port, ctrlC);
            }
            return ExitCode.OK;
        }
        boolean drawn = terminal.interactive() && !plain && !root.verbose;
        DemoView view = drawn ? new FrameView(terminal) : new PlainView(terminal.out());
        // Closed in reverse order: the process ends only after the temporary file is deleted.
        try (CtrlC ctrlC = CtrlC.listen();
                DemoFile file = DemoFile.of(db)) {
            Duration length = forever ? null : Duration.ofSeconds(seconds);
            new Demo(file.path(), length, view).run(ctrlC).print(terminal.out(), db);
        }
        return ExitCode.OK;
    }
}
