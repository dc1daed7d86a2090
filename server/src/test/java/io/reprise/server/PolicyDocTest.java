// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The previews in docs/choosing-a-policy.md are what the program prints. A line with an ellipsis stands for lines left out. */
class PolicyDocTest {

    private static final Path DOC = Path.of("..", "docs", "choosing-a-policy.md");
    private static final Pattern BLOCK = Pattern.compile("```\\n\\$ \\./reprise (.*?)\\n(.*?)```", Pattern.DOTALL);

    @Test
    void a_preview_is_what_the_program_prints() throws IOException {
        List<MatchResult> blocks =
                BLOCK.matcher(Files.readString(DOC)).results().toList();
        assertThat(blocks).hasSizeGreaterThan(4);
        for (MatchResult block : blocks) {
            String printed = Cli.line(block.group(1)).out();
            for (String part : block.group(2).split("…\\n", -1)) {
                assertThat(printed).as(block.group(1)).contains(part);
            }
        }
    }
}
