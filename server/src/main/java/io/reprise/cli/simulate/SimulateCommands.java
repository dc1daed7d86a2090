// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.terminal.Terminal;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.experiment.BudgetExperiment;
import io.reprise.simulator.experiment.Experiment;
import io.reprise.simulator.experiment.HerdExperiment;
import io.reprise.simulator.experiment.JitterExperiment;
import io.reprise.simulator.experiment.LeaseExperiment;
import io.reprise.simulator.experiment.MetastableExperiment;
import io.reprise.simulator.experiment.OutageExperiment;
import io.reprise.simulator.experiment.OutageExperiment.Setting;
import io.reprise.simulator.experiment.PoisonExperiment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code reprise simulate}: the experiments. */
@Command(
        name = "simulate",
        description = "Try retry policies in a world that fails, in virtual time: the real engine, no waiting.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "The same seed gives the same numbers.",
            "",
            "Examples:",
            "  reprise simulate outage --policy my.json --outage 15m --rate 50",
            "  reprise simulate metastable --json",
            "  reprise simulate herd --plot herd.svg",
            "  reprise simulate chaos --seeds 10000",
            "  reprise simulate recovery --worlds 2000"
        })
public final class SimulateCommands {

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    public static CommandLine line(Terminal terminal) {
        return new CommandLine(new SimulateCommands())
                .addSubcommand(new Jitter(terminal))
                .addSubcommand(new Budget(terminal))
                .addSubcommand(new Metastable(terminal))
                .addSubcommand(new Outage(terminal))
                .addSubcommand(new Herd(terminal))
                .addSubcommand(new Poison(terminal))
                .addSubcommand(new Lease(terminal))
                .addSubcommand(new ChaosCommand(terminal))
                .addSubcommand(new RecoveryCommand(terminal));
    }

    @Command(
            name = "jitter",
            description = "Clients that contend for one row: which way to spread retries gets them through soonest?",
            footer = {"", "Example:", "  reprise simulate jitter --rows reprise,full,exponential"})
    static final class Jitter extends SimulateCommand {

        Jitter(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            return new JitterExperiment();
        }
    }

    @Command(
            name = "budget",
            description = "Calls that fail with a certain probability: who gets through, and at what load?",
            footer = {"", "Example:", "  reprise simulate budget --json"})
    static final class Budget extends SimulateCommand {

        @Mixin
        OwnPolicy own = new OwnPolicy();

        Budget(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            return new BudgetExperiment(own.candidates(terminal()));
        }
    }

    @Command(
            name = "metastable",
            description = "A server that stands still for ten seconds under load: when does it do useful work again?",
            footer = {"", "Example:", "  reprise simulate metastable --rows reprise,no-retries,3-retries-full-jitter"})
    static final class Metastable extends SimulateCommand {

        @Mixin
        OwnPolicy own = new OwnPolicy();

        @Option(names = "--shedding", description = "The server drops requests whose client has given up.")
        boolean shedding;

        Metastable(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            return new MetastableExperiment(own.candidates(terminal()), shedding);
        }
    }

    @Command(
            name = "outage",
            sortOptions = false,
            description = "Jobs keep coming while what they call is down: how many die, what does it cost?",
            footer = {
                "",
                "With --policy the table has only that policy and our default.",
                "Durations: 30s, 15m, 1h, or ISO-8601 such as PT15M.",
                "",
                "Examples:",
                "  reprise simulate outage",
                "  reprise simulate outage --policy my.json --outage 15m --rate 50"
            })
    static final class Outage extends SimulateCommand {

        @Mixin
        OwnPolicy own = new OwnPolicy();

        @Option(names = "--outage", paramLabel = "D", description = "How long the downstream is down; 15m unless set.")
        Duration outage = Setting.DEFAULT.outage();

        @Option(names = "--rate", paramLabel = "N", description = "Jobs per second; 50 unless set.")
        double rate = Setting.DEFAULT.rate();

        @Option(names = "--length", paramLabel = "D", description = "How long jobs keep coming; 1h unless set.")
        Duration length = Setting.DEFAULT.length();

        @Option(
                names = "--capacity",
                paramLabel = "N",
                description = "Calls per second the downstream serves, turning away the rest; 100 unless set.")
        int capacity = Setting.DEFAULT.capacity();

        @Option(names = "--concurrency", paramLabel = "N", description = "Calls at once of the fleet; 400 unless set.")
        int concurrency = Setting.DEFAULT.concurrency();

        Outage(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            List<Candidate> candidates = new ArrayList<>(own.candidates(terminal()));
            if (candidates.isEmpty()) {
                candidates.addAll(OutageExperiment.table());
            } else {
                candidates.add(0, Candidate.REPRISE);
            }
            try {
                return new OutageExperiment(new Setting(outage, rate, length, capacity, concurrency), candidates);
            } catch (IllegalArgumentException e) {
                throw new BadInput("Cannot simulate this: " + e.getMessage(), e);
            }
        }
    }

    @Command(
            name = "herd",
            description = "10,000 jobs fail within a second: how many calls come in the worst second after it?",
            footer = {"", "Example:", "  reprise simulate herd --policy my.json"})
    static final class Herd extends SimulateCommand {

        @Mixin
        OwnPolicy own = new OwnPolicy();

        Herd(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            return new HerdExperiment(own.candidates(terminal()));
        }
    }

    @Command(
            name = "poison",
            description = "A job that kills every worker that runs it: how many, until it is put away?",
            footer = {"", "Example:", "  reprise simulate poison --policy my.json"})
    static final class Poison extends SimulateCommand {

        @Mixin
        OwnPolicy own = new OwnPolicy();

        Poison(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            return new PoisonExperiment(own.candidates(terminal()));
        }
    }

    @Command(
            name = "lease",
            description = "Workers that pause and die: what do short and long leases cost?",
            footer = {"", "Example:", "  reprise simulate lease --seed 2"})
    static final class Lease extends SimulateCommand {

        Lease(Terminal terminal) {
            super(terminal);
        }

        @Override
        Experiment experiment() {
            return new LeaseExperiment();
        }
    }
}
