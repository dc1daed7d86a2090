// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HelpTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--help        | serve jobs dead queues resources schedules keys stats demo policy simulate schema completion Examples:",
                "jobs --help   | list show enqueue retry cancel tail",
                "dead --help   | list groups replay replays watch cancel discard",
                "queues --help | list pause resume limit",
                "resources --help | list force-open force-close automatic",
                "schedules --help | list create pause resume trigger remove",
                "keys --help   | list create rotate revoke",
                "policy --help | presets preview lint",
                "schema --help | print",
                "simulate --help | jitter budget metastable outage herd poison lease",
            })
    void help_lists_every_command(String commandLine, String words) {
        Cli run = Cli.line(commandLine);
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains(words.split(" ", -1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "serve",
                "jobs",
                "jobs list",
                "jobs show",
                "jobs enqueue",
                "jobs retry",
                "jobs cancel",
                "jobs log",
                "jobs steps",
                "jobs tell",
                "jobs resolve",
                "jobs forget",
                "jobs tail",
                "dead",
                "dead list",
                "dead groups",
                "dead replay",
                "dead replays",
                "dead watch",
                "dead cancel",
                "dead discard",
                "queues list",
                "queues pause",
                "queues resume",
                "queues limit",
                "resources list",
                "resources force-open",
                "resources force-close",
                "resources automatic",
                "schedules list",
                "schedules create",
                "schedules pause",
                "schedules resume",
                "schedules trigger",
                "schedules remove",
                "keys list",
                "keys create",
                "keys rotate",
                "keys revoke",
                "stats",
                "completion",
                "backup",
                "restore",
                "demo",
                "policy presets",
                "policy preview",
                "policy lint",
                "schema print",
                "simulate jitter",
                "simulate budget",
                "simulate metastable",
                "simulate outage",
                "simulate herd",
                "simulate poison",
                "simulate lease"
            })
    void every_command_has_help_with_an_example(String command) {
        Cli run = Cli.line(command + " -h");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .startsWith(("Usage: reprise " + command).trim())
                .contains("Example")
                .contains("--verbose");
        assertThat(run.err()).isEmpty();
        assertThat(run.out()
                        .lines()
                        .dropWhile(line -> !line.startsWith("Example"))
                        .skip(1)
                        .takeWhile(line -> !line.isBlank()))
                .as("examples that fit a line each")
                .isNotEmpty()
                .allMatch(line -> line.startsWith("  "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--max-attempts", "--max-retries", "--base", "--factor", "--offset", "--shape", "--table", "--step",
                "--delay", "--cap", "--min-delay", "--jitter", "--cap-order", "--rounding", "--deadline", "--file",
                "--preset", "--retries", "--samples", "--seed", "--json"
            })
    void preview_explains_each_option(String option) {
        assertThat(Cli.line("policy preview --help").out()).containsPattern("(?m)^ *" + option + "\\b");
    }

    @Test
    void version_says_what_runs() {
        Cli run = Cli.line("--version");
        assertThat(run.code()).isZero();
        assertThat(run.out()).startsWith("reprise ").contains("Java ");
    }
}
