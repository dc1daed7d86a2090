// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.policy;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Warnings;
import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.config.PolicyErrors;
import io.reprise.server.config.PolicyWarnings;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "lint",
        description = "Check a policy file: what is wrong with it, and what is legal but probably not meant.",
        footer = {
            "",
            "Exit codes: 0 clean, 1 warnings, 2 not a policy or not readable.",
            "",
            "Examples:",
            "  reprise policy lint policy.json",
            "  cat policy.json | reprise policy lint - --json"
        })
public final class LintCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Parameters(paramLabel = "FILE", description = "Policy JSON; - for standard input.")
    String file = "-";

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    public LintCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** The JSON output. */
    record Report(String name, boolean valid, List<PolicyErrors.Found> errors, List<RetryPlan.Warning> warnings) {}

    @Override
    public Integer call() {
        PolicyFile source = PolicyFile.read(file, terminal.in());
        List<PolicyErrors.Found> errors = PolicyErrors.in(source.text());
        boolean valid = errors.isEmpty();
        List<RetryPlan.Warning> warnings = valid ? warnings(RetryPolicy.fromJson(source.text())) : List.of();
        if (json) {
            terminal.out().println(JsonOutput.write(new Report(source.name(), valid, errors, warnings)));
        } else if (valid) {
            print(RetryPolicy.fromJson(source.text()), warnings);
        } else {
            errors.forEach(error -> terminal.err().println("error: " + error.message()));
        }
        return valid ? warnings.isEmpty() ? ExitCode.OK : ExitCode.FINDING : ExitCode.BAD_INPUT;
    }

    private static List<RetryPlan.Warning> warnings(RetryPolicy policy) {
        return PolicyWarnings.of(policy, RetryPlan.of(policy, 0));
    }

    private void print(RetryPolicy policy, List<RetryPlan.Warning> warnings) {
        warnings.forEach(warning -> terminal.out().println(Warnings.text(warning)));
        String verdict =
                warnings.isEmpty() ? "no findings" : warnings.size() == 1 ? "1 warning" : warnings.size() + " warnings";
        terminal.out().println(file + ": " + verdict + ", " + PolicyText.attemptsAndRetries(policy));
    }
}
