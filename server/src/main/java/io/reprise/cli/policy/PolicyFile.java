// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.policy;

import io.reprise.cli.base.BadInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The text of a policy file, not parsed yet.
 *
 * @param name the file's name without {@code .json}
 */
public record PolicyFile(String name, String text) {

    /** More than any policy needs, so that a wrong file is refused before it fills the memory. */
    private static final int MAX_BYTES = 1 << 20;

    /** Reads a file, or standard input for {@code -}. */
    public static PolicyFile read(String file, InputStream in) {
        try {
            if (file.equals("-")) {
                return new PolicyFile("stdin", text(file, in));
            }
            Path path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw new BadInput("Cannot read " + file + ": it is a directory");
            }
            try (InputStream opened = Files.newInputStream(path)) {
                return new PolicyFile(stem(path), text(file, opened));
            }
        } catch (NoSuchFileException e) {
            throw new BadInput("Cannot read " + file + ": there is no such file", e);
        } catch (CharacterCodingException e) {
            throw new BadInput("Cannot read " + file + ": it is not UTF-8 text", e);
        } catch (IOException | java.nio.file.InvalidPathException e) {
            throw new BadInput("Cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private static String text(String file, InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(MAX_BYTES + 1);
        if (bytes.length > MAX_BYTES) {
            throw new BadInput("Cannot read " + file + ": it is longer than " + MAX_BYTES + " bytes");
        }
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
    }

    private static String stem(Path path) {
        String name = String.valueOf(path.getFileName());
        return name.endsWith(".json") ? name.substring(0, name.length() - ".json".length()) : name;
    }
}
