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

/**
 * What a module exports is listed in its {@code src/test/resources/api.txt}: each type and each member that a user can
 * reach. So a change of the API is seen in a review. {@code -Dreprise.api.write=true} writes the lists.
 */
class ApiListingTest {

    private static final boolean WRITES = Boolean.getBoolean("reprise.api.write");
    private static final Pattern EXPORT = Pattern.compile("(?m)^    exports ([\\w.]+);");
    private static final Pattern PUBLIC_TYPE = Pattern.compile("(?m)^public [^;]*?\\{");
    private static final Pattern MEMBER = Pattern.compile(" {4,}(?:public|protected) .*");
    private static final Pattern INTERFACE_MEMBER = Pattern.compile("    (?!private |//|\\*|/\\*|@|}|\\s)\\S.*");
    private static final Pattern CONSTANT = Pattern.compile("    [A-Z][A-Z0-9_]*(?:[,;]|\\(.*)?");

    static List<Path> modules() throws IOException {
        return ApiDocsTest.modules().stream()
                .filter(module -> !module.startsWith(Path.of("..", "history")))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("modules")
    void what_a_module_exports_is_listed(Path module) throws IOException {
        List<String> api = new ArrayList<>();
        for (String name : EXPORT.matcher(Files.readString(module))
                .results()
                .map(each -> each.group(1))
                .sorted()
                .toList()) {
            try (Stream<Path> files = Files.list(module.resolveSibling(name.replace('.', '/')))) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                        .sorted()
                        .toList()) {
                    list(name, Files.readString(file), api);
                }
            }
        }
        Path golden = module.resolveSibling("../../test/resources/api.txt").normalize();
        String text = String.join("\n", api) + "\n";
        if (WRITES) {
            Files.createDirectories(golden.getParent());
            Files.writeString(golden, text);
        }
        assertThat(text)
                .as("the exported API changed. If that is wanted: mvn test -pl examples -am -Dtest=ApiListingTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -Dreprise.api.write=true")
                .isEqualTo(Files.readString(golden));
    }

    private static void list(String name, String source, List<String> api) {
        var type = PUBLIC_TYPE.matcher(source);
        if (!type.find()) {
            return;
        }
        api.add("");
        api.add(name + ": " + signature(type.group()));
        boolean isInterface = type.group().contains(" interface ");
        boolean isEnum = type.group().startsWith("public enum ");
        List<String> lines = source.substring(type.end()).lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            boolean constant = isEnum && CONSTANT.matcher(lines.get(i)).matches();
            boolean listed = constant
                    || MEMBER.matcher(lines.get(i)).matches()
                    || (isInterface && INTERFACE_MEMBER.matcher(lines.get(i)).matches());
            if (listed) {
                StringBuilder text = new StringBuilder(lines.get(i));
                while (!isWhole(text, constant)) {
                    text.append(' ').append(lines.get(++i).strip());
                }
                api.add("    " + signature(text.toString()));
            }
        }
    }

    /** Whether the text has all of a signature: its brackets are closed, and a body or the end follows. */
    private static boolean isWhole(StringBuilder text, boolean constant) {
        long open = text.chars().filter(c -> c == '(').count();
        long closed = text.chars().filter(c -> c == ')').count();
        return open == closed && (constant || text.indexOf("{") >= 0 || text.charAt(text.length() - 1) == ';');
    }

    /** Cuts the body, and the value of a constant, and writes the rest on one line. */
    private static String signature(String text) {
        String line = text.strip().replaceAll("\\s+", " ");
        int body = line.indexOf('{');
        String head = body < 0 ? line : line.substring(0, body);
        int value = head.indexOf(" = ");
        return (value < 0 ? head : head.substring(0, value))
                .replaceAll("[;,]\\s*$", "")
                .strip();
    }
}
