// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.policy;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Warnings;
import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.config.Durations;
import java.math.BigDecimal;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "preview",
        sortOptions = false,
        description = "Show when the retries of a policy would come, without running anything.",
        footer = {
            "",
            "Durations: 500ms, 30s, 1m30s, 2h, 1d, or ISO-8601 such as PT1M30S.",
            "Options stand above the file, the file above the preset.",
            "",
            "Examples:",
            "  reprise policy preview --preset conduit",
            "  reprise policy preview --preset default --cap 5m --jitter equal --retries 12",
            "  reprise policy preview --table 1s,5s,30s --max-attempts 4 --jitter none",
            "  reprise policy preview --file policy.json --samples 100000 --seed 7 --json"
        })
public final class PreviewCommand implements Callable<Integer> {

    private static final int UNLIMITED_ROWS = 10;
    private static final int MOST_ROWS = 50;

    private final Terminal terminal;

    @Option(names = "--preset", paramLabel = "NAME", description = "Start from this preset: see 'policy presets'.")
    @Nullable
    String preset;

    @Option(names = "--file", paramLabel = "FILE", description = "Start from this policy JSON; - for standard input.")
    @Nullable
    String file;

    @Option(names = "--retries", paramLabel = "N", description = "Show so many retries, even beyond the limit.")
    @Nullable
    Integer retries;

    @Option(
            names = "--samples",
            paramLabel = "N",
            description = "Draw so many delays per retry; min, max and mean are those drawn.")
    @Nullable
    Integer samples;

    @Option(names = "--seed", paramLabel = "S", description = "Draw the same delays every time.")
    @Nullable
    Long seed;

    @Option(names = "--json", description = "Print JSON; times in milliseconds.")
    boolean json;

    @Mixin
    PolicyOptions overrides = new PolicyOptions();

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    public PreviewCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** The JSON output. {@code maxAttempts} null means unlimited. */
    record Preview(
            String name,
            @Nullable Integer maxAttempts,
            List<Retry> retries,
            List<BranchRows> branches,
            List<RetryPlan.Warning> warnings) {}

    /** The retries of one branch; {@code never} means none. */
    record BranchRows(
            String branch, @Nullable Integer maxAttempts, boolean never, boolean counts, List<Retry> retries) {

        static BranchRows of(RetryPlan.BranchPlan plan) {
            return new BranchRows(
                    plan.branch().name(),
                    plan.maxAttempts(),
                    plan.branch().isNever(),
                    plan.branch().counts(),
                    plan.steps().stream().map(Retry::of).toList());
        }
    }

    record Retry(
            int n,
            BigDecimal rawMs,
            BigDecimal minMs,
            BigDecimal maxMs,
            BigDecimal meanMs,
            BigDecimal cumulativeMaxMs) {

        static Retry of(RetryPlan.Step step) {
            return new Retry(
                    step.retry(),
                    Durations.millis(step.raw()),
                    Durations.millis(step.min()),
                    Durations.millis(step.max()),
                    Durations.millis(step.mean()),
                    Durations.millis(step.cumulativeMax()));
        }
    }

    @Override
    public Integer call() {
        PolicyFile source = file == null ? null : PolicyFile.read(file, terminal.in());
        RetryPolicy policy = overrides.over(start(source));
        String name = preset != null ? preset : source != null ? source.name() : "default";
        RetryPlan plan = plan(policy);
        if (json) {
            Integer limit = policy.complete().maxAttempts().toOptional().orElse(null);
            List<Retry> rows = plan.steps().stream().map(Retry::of).toList();
            terminal.out()
                    .println(JsonOutput.write(new Preview(
                            name,
                            limit,
                            rows,
                            plan.branches().stream().map(BranchRows::of).toList(),
                            plan.warnings())));
        } else {
            print(name, policy, plan);
        }
        return ExitCode.OK;
    }

    private RetryPolicy start(@Nullable PolicyFile source) {
        RetryPolicy named = RetryPolicy.unset();
        if (preset != null) {
            try {
                named = Presets.get(preset);
            } catch (IllegalArgumentException e) {
                throw new BadInput("Invalid value for option '--preset': " + e.getMessage(), e);
            }
        }
        if (source == null) {
            return named;
        }
        try {
            return RetryPolicy.fromJson(source.text()).orElse(named);
        } catch (IllegalArgumentException e) {
            throw new BadInput(file + " is not a policy: " + e.getMessage(), e);
        }
    }

    private RetryPlan plan(RetryPolicy policy) {
        if (seed != null && samples == null) {
            throw new BadInput("--seed needs --samples: without samples nothing is drawn");
        }
        int rows = retries == null ? defaultRows(policy) : retries;
        try {
            if (samples == null) {
                return RetryPlan.of(policy, rows);
            }
            SplittableRandom random = seed == null ? new SplittableRandom() : new SplittableRandom(seed);
            return RetryPlan.sampled(policy, rows, samples, random);
        } catch (IllegalArgumentException e) {
            throw new BadInput("Invalid value for option '--" + firstWord(e) + "': " + e.getMessage(), e);
        }
    }

    /** The plan's messages begin with the name of the argument, which is also the name of the option. */
    private static String firstWord(IllegalArgumentException e) {
        String message = String.valueOf(e.getMessage());
        return message.substring(0, Math.max(0, message.indexOf(' ')));
    }

    private static int defaultRows(RetryPolicy policy) {
        return policy.complete()
                .maxAttempts()
                .toOptional()
                .map(limit -> Math.min(limit - 1, MOST_ROWS))
                .orElse(UNLIMITED_ROWS);
    }

    private void print(String name, RetryPolicy policy, RetryPlan plan) {
        terminal.out().println(name + ": " + PolicyText.attemptsAndRetries(policy));
        terminal.out()
                .println("delays " + PolicyText.backoff(policy) + ", cap " + PolicyText.cap(policy) + ", jitter "
                        + PolicyText.jitter(policy) + " (" + PolicyText.order(policy) + "), rounding "
                        + PolicyText.rounding(policy) + ", deadline " + PolicyText.deadline(policy));
        terminal.out().println();
        int allowed = policy.complete()
                .maxAttempts()
                .toOptional()
                .map(limit -> limit - 1)
                .orElse(Integer.MAX_VALUE);
        if (plan.steps().isEmpty()) {
            terminal.out().println("  Nothing is retried.");
        } else {
            printTable(plan.steps(), allowed);
        }
        plan.branches().forEach(this::printBranch);
        plan.warnings().forEach(warning -> terminal.out().println(Warnings.text(warning)));
    }

    private void printBranch(RetryPlan.BranchPlan plan) {
        Integer most = plan.maxAttempts();
        String limit = plan.branch().isNever()
                ? "never retried"
                : !plan.branch().counts()
                        ? "spends no attempt"
                        : most == null ? "no limit of attempts" : "up to " + most + " attempts";
        terminal.out().println();
        terminal.out().println(plan.branch().name() + ": " + limit);
        if (!plan.steps().isEmpty()) {
            printTable(plan.steps(), most == null || !plan.branch().counts() ? Integer.MAX_VALUE : most - 1);
        }
    }

    private void printTable(List<RetryPlan.Step> steps, int allowed) {
        String drawn = samples == null ? "" : " drawn";
        TextTable table =
                new TextTable(">retry", ">raw", ">min" + drawn, ">max" + drawn, ">mean" + drawn, ">longest total");
        for (RetryPlan.Step step : steps) {
            table.add(
                    (step.retry() > allowed ? "*" : "") + step.retry(),
                    Durations.text(step.raw()),
                    Durations.text(step.min()),
                    Durations.text(step.max()),
                    Durations.text(step.mean()),
                    Durations.text(step.cumulativeMax()));
        }
        table.print(terminal.out());
        int shown = steps.size();
        if (shown > allowed) {
            terminal.out().println("  * beyond the limit of this policy: would not be made");
        } else if (shown < allowed) {
            String all = allowed == Integer.MAX_VALUE ? "more follow without end" : allowed - shown + " more follow";
            terminal.out().println("  " + all + "; --retries shows them");
        }
    }
}
