// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.server.http.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * A hash of JSON content. It does not depend on the order of members. The text may be long, so it is read as a stream;
 * of an object only the hashes of its members are kept.
 */
final class ContentHash {

    private static final int BYTES = 16;

    private ContentHash() {}

    /**
     * Returns the hash of a text.
     *
     * @param salt makes equal texts of different keys hash differently
     */
    static String of(String salt, String json) {
        try (JsonParser parser = Json.parser(json)) {
            parser.nextToken();
            MessageDigest digest = digest('s', salt);
            digest.update(value(parser));
            return HexFormat.of().formatHex(digest.digest(), 0, BYTES);
        }
    }

    private static byte[] value(JsonParser parser) {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.START_OBJECT) {
            return object(parser);
        }
        if (token == JsonToken.START_ARRAY) {
            MessageDigest digest = digest('a', "");
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                digest.update(value(parser));
            }
            return digest.digest();
        }
        return digest(token == JsonToken.VALUE_STRING ? 't' : 'v', parser.getString())
                .digest();
    }

    private static byte[] object(JsonParser parser) {
        Map<String, byte[]> members = new TreeMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            members.put(name, value(parser));
        }
        MessageDigest digest = digest('o', "");
        members.forEach((name, hash) -> {
            digest.update(digest('n', name).digest());
            digest.update(hash);
        });
        return digest.digest();
    }

    private static MessageDigest digest(char kind, String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((byte) kind);
            digest.update(text.getBytes(StandardCharsets.UTF_8));
            return digest;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256", e);
        }
    }
}
