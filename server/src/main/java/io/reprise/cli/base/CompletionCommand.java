// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.cli.terminal.Terminal;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "completion",
        description = "Print a script that makes a shell complete commands and options.",
        footer = {
            "",
            "Examples:",
            "  source <(reprise completion bash)",
            "  reprise completion zsh > ~/.reprise-completion",
            "  echo 'source ~/.reprise-completion' >> ~/.zshrc"
        })
public final class CompletionCommand implements Callable<Integer> {

    /** The shells that the script serves. */
    enum Shell {
        BASH,
        ZSH
    }

    private final Terminal terminal;

    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    Shell shell = Shell.BASH;

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    @Spec
    @Nullable
    CommandSpec spec;

    public CompletionCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (spec != null) {
            terminal.out().print(AutoComplete.bash("reprise", spec.root().commandLine()));
        }
        return ExitCode.OK;
    }
}
