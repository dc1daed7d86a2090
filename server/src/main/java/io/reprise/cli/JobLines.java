// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.OptionText;
import io.reprise.cli.terminal.Terminal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Reads jobs from a file with one JSON object per line. */
final class JobLines {

    private JobLines() {}

    /**
     * Reads all jobs before any is enqueued.
     *
     * @throws BadInput naming the first line that is no JSON object
     */
    static List<JsonNode> read(Path file, Terminal terminal) {
        List<JsonNode> jobs = new ArrayList<>();
        try (BufferedReader lines = open(file, terminal)) {
            int number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (!line.isBlank()) {
                    JsonNode job = OptionText.json("line " + number + " of " + file, line);
                    BadInput.require(job.isObject(), "line " + number + " of " + file + " is not a JSON object");
                    jobs.add(job);
                }
            }
        } catch (IOException e) {
            throw new BadInput("Cannot read " + file + ": " + e.getMessage(), e);
        }
        return jobs;
    }

    private static BufferedReader open(Path file, Terminal terminal) throws IOException {
        return file.toString().equals("-")
                ? new BufferedReader(new InputStreamReader(terminal.in(), StandardCharsets.UTF_8))
                : Files.newBufferedReader(file);
    }
}
