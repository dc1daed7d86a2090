// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each method that a user can call has a comment. The compiler checks what is in it. */
class ApiDocsTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern EXPORT = Pattern.compile("(?m)^    exports ([\\w.]+);");
    private static final Pattern PUBLIC_TYPE = Pattern.compile(
            "(?m)^public (?:(?:abstract|final|sealed|non-sealed) )*(class|interface|record|enum|@interface) ");

    /** A method, constructor, constant or nested type of a class. */
    private static final Pattern MEMBER = Pattern.compile("    (?:public|protected) .*");

    /** A method, constant or nested type of an interface, which needs no modifier. */
    private static final Pattern INTERFACE_MEMBER = Pattern.compile("    [\\w<@][^=;]*[(={;].*");

    static List<Path> modules() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT, 5)) {
            return files.filter(file -> file.endsWith(Path.of("src", "main", "java", "module-info.java")))
                    .filter(file -> !file.toString().contains("target"))
                    // Its methods are tests, and their names are sentences.
                    .filter(file -> !file.startsWith(ROOT.resolve("testkit")))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void every_member_of_the_api_has_a_comment(Path module) throws IOException {
        List<String> bare = new ArrayList<>();
        int members = 0;
        List<String> exported = EXPORT.matcher(Files.readString(module))
                .results()
                .map(each -> each.group(1))
                .toList();
        for (String name : exported) {
            try (Stream<Path> files = Files.list(module.resolveSibling(name.replace('.', '/')))) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    members += look(file, bare);
                }
            }
        }
        assertThat(members).as("members of %s", module).isPositive();
        // The history checker is for our own tests.
        if (!module.startsWith(ROOT.resolve("history"))) {
            assertThat(undated(module, exported)).as("types without @since").isEmpty();
        }
        assertThat(bare).isEmpty();
    }

    private static List<String> undated(Path module, List<String> exported) throws IOException {
        List<String> undated = new ArrayList<>();
        for (String name : exported) {
            try (Stream<Path> files = Files.list(module.resolveSibling(name.replace('.', '/')))) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    String source = Files.readString(file);
                    var type = PUBLIC_TYPE.matcher(source);
                    if (type.find() && !source.substring(0, type.start()).contains("* @since ")) {
                        undated.add(file.getFileName().toString());
                    }
                }
            }
        }
        return undated;
    }

    private static int look(Path file, List<String> bare) throws IOException {
        String source = Files.readString(file);
        var type = PUBLIC_TYPE.matcher(source);
        if (!type.find()) {
            return 0;
        }
        Pattern member = type.group(1).equals("interface") ? INTERFACE_MEMBER : MEMBER;
        List<String> lines = source.lines().toList();
        int members = 0;
        for (int i = 0; i < lines.size(); i++) {
            if (member.matcher(lines.get(i)).matches() && !lines.get(i).startsWith("    private ")) {
                members++;
                int before = i - 1;
                boolean inherited = false;
                while (lines.get(before).startsWith("    @")) {
                    inherited |= lines.get(before).startsWith("    @Override");
                    before--;
                }
                if (!inherited && !lines.get(before).endsWith("*/")) {
                    bare.add(file.getFileName() + ": " + lines.get(i).strip());
                }
            }
        }
        return members;
    }
}
