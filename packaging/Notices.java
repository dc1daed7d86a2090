// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Takes the licences and notices out of the libraries that are shipped: {@code java Notices.java LIBRARIES RESULT}. */
class Notices {

    private static final Pattern NOTICE = Pattern.compile("(?i)(META-INF/)?(LICENSE|NOTICE|COPYING)[^/]*");

    public static void main(String[] args) throws IOException {
        Path result = Files.createDirectories(Path.of(args[1]));
        try (Stream<Path> jars = Files.list(Path.of(args[0]))) {
            for (Path jar : jars.sorted().toList()) {
                if (!jar.getFileName().toString().startsWith("reprise-")) {
                    copy(jar, result);
                }
            }
        }
    }

    private static void copy(Path jar, Path result) throws IOException {
        String name = jar.getFileName().toString().replaceAll("\\.jar$", "");
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            List<? extends ZipEntry> notices = zip.stream()
                    .filter(entry -> !entry.isDirectory() && NOTICE.matcher(entry.getName()).matches())
                    .toList();
            for (ZipEntry notice : notices) {
                String base = notice.getName().substring(notice.getName().lastIndexOf('/') + 1);
                Files.write(result.resolve(name + "-" + base), zip.getInputStream(notice).readAllBytes());
            }
        }
    }
}
