// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LintTest {

    private static final String CLEAN = "{\"backoff\":\"exponential\",\"base\":\"PT1S\",\"maxAttempts\":5}";
    private static final String ODD = "{\"maxAttempts\":null,\"deadline\":null,\"jitter\":\"none\"}";

    @Test
    void a_clean_policy_exits_with_0() {
        Cli run = Cli.runWith(CLEAN, "policy", "lint", "-");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("no findings").contains("5 attempts (4 retries)");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void warnings_exit_with_1_and_show_their_codes() {
        Cli run = Cli.runWith(ODD, "policy", "lint", "-");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out())
                .contains("[unlimited-without-deadline]")
                .contains("[no-jitter]")
                .contains("2 warnings");
    }

    @Test
    void a_deadline_that_no_probe_of_a_breaker_is_in_time_for_is_a_finding() {
        Cli run = Cli.runWith("{\"maxAttempts\":2,\"deadline\":\"PT15S\"}", "policy", "lint", "-");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).contains("[deadline-before-probe]").contains("15.0 s");
    }

    @Test
    void every_wrong_field_is_named_with_what_is_allowed() {
        String broken = "{\"factor\":0.5,\"cap\":\"soon\",\"jiter\":\"full\",\"offset\":7,\"maxAttempts\":3}";
        Cli run = Cli.runWith(broken, "policy", "lint", "-");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
                .contains("factor is 0.5 but must be 1.0 to 1000.0")
                .contains("cap is")
                .contains("no field \"jiter\"")
                .contains("offset is 7 but must be 0 to 1");
        assertThat(run.err().lines()).hasSize(4);
    }

    @Test
    void a_table_and_its_delays_are_judged_together() {
        String fine = "{\"backoff\":\"table\",\"delays\":[\"PT1S\",\"PT5S\"],\"factor\":0}";
        assertThat(Cli.runWith(fine, "policy", "lint", "-").err().lines())
                .singleElement()
                .asString()
                .contains("factor");
        String lonely = "{\"delays\":[\"PT1S\"]}";
        assertThat(Cli.runWith(lonely, "policy", "lint", "-").err()).contains("delays");
    }

    @Test
    void text_that_is_no_json_object_exits_with_2() {
        for (String text : new String[] {"", "{", "[]", "null", "\"full\"", "{\"base\":\"PT1S\",\"base\":\"PT2S\"}"}) {
            Cli run = Cli.runWith(text, "policy", "lint", "-");
            assertThat(run.code()).as(text).isEqualTo(2);
            assertThat(run.err()).as(text).startsWith("error: ");
        }
    }

    @Test
    void json_says_the_same() {
        Cli clean = Cli.runWith(CLEAN, "policy", "lint", "-", "--json");
        assertThat(clean.out().strip()).isEqualTo("{\"name\":\"stdin\",\"valid\":true,\"errors\":[],\"warnings\":[]}");
        Cli odd = Cli.runWith(ODD, "policy", "lint", "--json", "-");
        assertThat(odd.code()).isEqualTo(1);
        assertThat(odd.json().at("/warnings/0/code").asString()).isEqualTo("unlimited-without-deadline");
        Cli broken = Cli.runWith("{\"factor\":0.5}", "policy", "lint", "-", "--json");
        assertThat(broken.code()).isEqualTo(2);
        assertThat(broken.json().get("valid").asBoolean()).isFalse();
        assertThat(broken.json().at("/errors/0/field").asString()).isEqualTo("factor");
    }

    @Test
    void a_file_is_read_by_name(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("mine.json"), CLEAN);
        assertThat(Cli.run("policy", "lint", file.toString()).out()).startsWith(file + ": no findings");
    }
}
