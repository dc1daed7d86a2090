// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the clients say of a job, beside what the server takes. */
class ClientFieldsTest {

    private static final Path TYPESCRIPT = Path.of("../clients/typescript/src/index.d.ts");
    private static final Path PYTHON = Path.of("../clients/python/reprise/client.py");
    private static final Pattern MEMBER = Pattern.compile("^ {2}(\\w+)\\??:", Pattern.MULTILINE);

    private static Set<String> fieldsOfAJob() {
        try (TestServer server = new TestServer()) {
            return new TreeSet<>(server.get("/openapi.json")
                    .json()
                    .at("/components/schemas/JobRequest/properties")
                    .propertyNames());
        }
    }

    private static Set<String> members(String source, String declaration) {
        String body = source.substring(source.indexOf(declaration));
        Set<String> names = new TreeSet<>();
        Matcher member = MEMBER.matcher(body.substring(0, body.indexOf("\n}")));
        while (member.find()) {
            names.add(member.group(1));
        }
        return names;
    }

    @Test
    void typescript_declares_every_field_of_a_job_and_no_other() throws IOException {
        String source = Files.readString(TYPESCRIPT);
        Set<String> declared = members(source, "export interface JobOptions {");
        declared.addAll(members(source, "export interface JobRequest<"));
        assertThat(declared).isEqualTo(fieldsOfAJob());
    }

    @Test
    void python_documents_every_field_of_a_job() throws IOException {
        String source = Files.readString(PYTHON);
        int start = source.indexOf("def enqueue(");
        String documented = source.substring(start, source.indexOf("body = request", start));
        assertThat(fieldsOfAJob())
                .map(field -> field.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT))
                .allSatisfy(field -> assertThat(documented).containsPattern("\\b" + field + "\\b"));
    }
}
