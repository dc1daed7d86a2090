// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.cli.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** {@code reprise} itself: the options that every command has. {@link Commands} lists the commands. */
@Command(
        name = "reprise",
        description = "A durable job queue whose heart is retry control.",
        versionProvider = RepriseCommand.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  reprise demo                               watch jobs fail and recover",
            "  reprise serve                              the server, on reprise.db",
            "  reprise jobs list --state failed           what has failed?",
            "  reprise dead replay --fingerprint 8c1f     put a group back, canary first",
            "  reprise policy preview --preset conduit    when would the retries come?",
            "  reprise policy lint policy.json            is anything odd about it?",
            "  reprise simulate outage --rate 20          which policy survives an outage?",
            "  reprise schema print --dialect postgresql  the tables, to migrate yourself",
            "",
            "Exit codes: 0 fine, 1 a finding, 2 bad input or refused, 70 nobody answers or an",
            "internal error."
        })
public final class RepriseCommand {

    @Mixin
    HelpOption help = new HelpOption();

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version and exit.")
    boolean version;

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            description = "Log more to standard error, and show stack traces.")
    public boolean verbose;

    /** {@code -h}, which every command has. */
    public static final class HelpOption {
        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Show this help and exit.")
        boolean help;
    }

    /** Prints the version and the Java version, for bug reports. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String own = RepriseCommand.class.getPackage().getImplementationVersion();
            return new String[] {
                "reprise " + (own == null ? "(not packaged)" : own) + ", Java " + System.getProperty("java.version")
            };
        }
    }
}
