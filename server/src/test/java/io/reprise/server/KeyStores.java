// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Certificates made for a test, signed by nobody. */
public final class KeyStores {

    public static final String PASSWORD = "password";

    private KeyStores() {}

    /** A file with a key and a certificate for a name, such as {@code dns:example.org} or {@code ip:127.0.0.1}. */
    public static Path make(Path directory, String name) throws Exception {
        Path file = directory.resolve("keys.p12");
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        Process process = new ProcessBuilder(
                        keytool.toString(),
                        "-genkeypair",
                        "-alias",
                        "key",
                        "-keyalg",
                        "EC",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD,
                        "-dname",
                        "CN=test",
                        "-ext",
                        "SAN=" + name,
                        "-validity",
                        "2")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return file;
    }
}
