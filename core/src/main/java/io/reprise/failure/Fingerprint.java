// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import io.reprise.text.Memo;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Groups failures that are the same error. The fingerprint is a hash over types, messages and top frames, without the
 * parts that vary from one occurrence to the next. Errors come many at a time, so the latest fingerprints are
 * remembered.
 */
final class Fingerprint {

    private static final int MAX_REMEMBERED = 500;
    private static final int MAX_CHARS = 1_000;

    /** One error without its variable parts. Equal kinds have the same fingerprint. */
    private record Kind(
            List<Part> parts,
            @Nullable String code,
            @Nullable Integer status) {

        boolean isSmall() {
            int chars = code == null ? 0 : code.length();
            for (Part part : parts) {
                chars += part.shape.length();
            }
            return chars <= MAX_CHARS;
        }
    }

    /** One throwable of the chain. */
    private record Part(String type, String shape, List<String> frames) {}

    private static final Memo<Kind, String> REMEMBERED = new Memo<>(MAX_REMEMBERED, Fingerprint::hash);

    private static final Pattern DIGITS = Pattern.compile("\\d+");

    private final MessageDigest digest = sha256();

    private Fingerprint() {}

    /** The fingerprint of a cause chain, with the message and the frames of each throwable. */
    static String of(
            List<Throwable> chain,
            List<String> messages,
            List<Frames> frames,
            @Nullable String code,
            @Nullable Integer status) {
        List<Part> parts = new ArrayList<>(chain.size());
        for (int i = 0; i < chain.size(); i++) {
            Throwable link = chain.get(i);
            parts.add(new Part(
                    typeName(link.getClass().getName()),
                    MessageShape.of(messages.get(i)),
                    frames.get(i).top()));
        }
        return of(new Kind(parts, code, status));
    }

    static String of(String type, String message, @Nullable String code, @Nullable Integer status) {
        return of(new Kind(List.of(new Part(typeName(type), MessageShape.of(message), List.of())), code, status));
    }

    private static String of(Kind kind) {
        return kind.isSmall() ? REMEMBERED.of(kind) : hash(kind);
    }

    private static String hash(Kind kind) {
        Fingerprint fingerprint = new Fingerprint();
        for (Part part : kind.parts) {
            fingerprint.add(part.type);
            fingerprint.add(part.shape);
            part.frames.forEach(fingerprint::add);
        }
        fingerprint.add("code=" + kind.code);
        fingerprint.add("status=" + kind.status);
        return HexFormat.of().formatHex(fingerprint.digest.digest(), 0, 8);
    }

    /** Lambdas, proxies and enhanced classes get another number or hash in each process. */
    static String typeName(String name) {
        int generated = name.indexOf("$$");
        return withoutDigits(generated < 0 ? name : name.substring(0, generated + 2));
    }

    static String withoutDigits(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (Character.isDigit(name.charAt(i))) {
                return DIGITS.matcher(name).replaceAll("#");
            }
        }
        return name;
    }

    private void add(String part) {
        digest.update(part.getBytes(StandardCharsets.UTF_8));
        digest.update((byte) 0);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
