// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Who imports the BOM gets the versions of our modules, and no others. {@link InstallTest} uses it. */
class BomTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern VERSION = Pattern.compile("<version>[^<]+</version>");
    private static final Pattern GROUP = Pattern.compile("<groupId>([^<]+)</groupId>");

    @Test
    void the_bom_manages_our_modules_only() throws IOException {
        String bom = Files.readString(ROOT.resolve("bom/pom.xml"));
        Matcher version = VERSION.matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertThat(version.find()).isTrue();
        assertThat(bom).doesNotContain("<parent>").contains(version.group());
        String managed = bom.substring(bom.indexOf("<dependencyManagement>"), bom.indexOf("</dependencyManagement>"));
        List<String> groups =
                GROUP.matcher(managed).results().map(found -> found.group(1)).toList();
        assertThat(groups).hasSizeGreaterThan(8).containsOnly("io.reprise");
    }
}
