// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Groups failures that are the same error: a hash over types, messages and top frames from which everything that varies
 * from one occurrence to the next has been removed.
 */
final class Fingerprint {

    private static final int TOP_FRAMES = 6;

    /** Reflection goes through different frames after a number of calls, so its frames say nothing about the error. */
    private static final Pattern PLUMBING =
            Pattern.compile("^(?:jdk\\.internal|sun|java\\.lang\\.(?:reflect|invoke))\\.");

    private static final Pattern GENERATED = Pattern.compile("\\$\\$.*");
    private static final Pattern DIGITS = Pattern.compile("\\d+");

    private final MessageDigest digest = sha256();

    private Fingerprint() {}

    static String of(List<Throwable> chain, @Nullable String code, @Nullable Integer status) {
        Fingerprint fingerprint = new Fingerprint();
        for (Throwable link : chain) {
            fingerprint.add(typeName(link.getClass().getName()));
            fingerprint.add(MessageShape.of(Throwables.message(link)));
            fingerprint.addFrames(Throwables.frames(link));
        }
        return fingerprint.hex(code, status);
    }

    static String of(String type, String message, @Nullable String code, @Nullable Integer status) {
        Fingerprint fingerprint = new Fingerprint();
        fingerprint.add(typeName(type));
        fingerprint.add(MessageShape.of(message));
        return fingerprint.hex(code, status);
    }

    /** Lambdas, proxies and enhanced classes are numbered or hashed anew in each process. */
    private static String typeName(String name) {
        if (name.chars().noneMatch(c -> c == '$' || (c >= '0' && c <= '9'))) {
            return name;
        }
        return DIGITS.matcher(GENERATED.matcher(name).replaceFirst("\\$\\$")).replaceAll("#");
    }

    private void addFrames(StackTraceElement[] frames) {
        int added = 0;
        for (StackTraceElement frame : frames) {
            if (added == TOP_FRAMES) {
                return;
            }
            String type = frame.getClassName();
            if (!PLUMBING.matcher(type).find()) {
                add(typeName(type) + "." + DIGITS.matcher(frame.getMethodName()).replaceAll("#"));
                added++;
            }
        }
    }

    private String hex(@Nullable String code, @Nullable Integer status) {
        add("code=" + code);
        add("status=" + status);
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
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
