// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.schema;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Stores;
import io.reprise.cli.terminal.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "export",
        description = "Write the migrations as files for Flyway or Liquibase.",
        footer = {"", "Example:", "  reprise schema export --format flyway --dialect postgresql db/reprise"})
public final class SchemaExportCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Option(names = "--format", required = true, paramLabel = "NAME", description = "${COMPLETION-CANDIDATES}.")
    Stores.SchemaFormat format = Stores.SchemaFormat.flyway;

    @Option(
            names = "--dialect",
            required = true,
            paramLabel = "NAME",
            description = "postgresql, mysql, mariadb or sqlite.")
    String dialect = "";

    @Parameters(paramLabel = "DIRECTORY", description = "Where the files go; made if need be.")
    Path directory = Path.of("");

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    public SchemaExportCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Map<String, String> files = Stores.schemaFiles(dialect, format);
        try {
            Files.createDirectories(directory);
            for (Map.Entry<String, String> file : files.entrySet()) {
                Path written = directory.resolve(file.getKey());
                Files.writeString(written, file.getValue());
                terminal.out().println(written);
            }
        } catch (IOException e) {
            throw new BadInput("The files cannot be written: " + e.getMessage(), e);
        }
        return ExitCode.OK;
    }
}
