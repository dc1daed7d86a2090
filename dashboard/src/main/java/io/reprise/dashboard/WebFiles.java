// SPDX-License-Identifier: Apache-2.0
package io.reprise.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;

/**
 * The files of the dashboard. Each is served under a name that contains its hash, so that a browser keeps it for ever
 * and yet never mixes two versions. The page's import map leads from the plain names to those. Immutable.
 */
public final class WebFiles {

    /** Every file beside the page itself. */
    static final List<String> NAMES = List.of(
            "app.css",
            "app.js",
            "batches.js",
            "charts.js",
            "errors.js",
            "fleet.js",
            "jobs.js",
            "lit-html.js",
            "net.js",
            "now.js",
            "policies.js",
            "resources.js",
            "steps.js",
            "text.js",
            "ui.js",
            "icon.svg");

    /** The modules of the frame and of the first screen. The browser asks for them all at once. */
    private static final List<String> FIRST =
            List.of("app.js", "charts.js", "errors.js", "lit-html.js", "net.js", "now.js", "text.js", "ui.js");

    private static final String PAGE = "index.html";
    private static final int HASH_CHARACTERS = 12;

    /** One file as it is sent. */
    public static final class WebFile {
        private final String contentType;
        private final byte[] content;
        private final byte[] zipped;

        private WebFile(String contentType, byte[] content) {
            this.contentType = contentType;
            this.content = content;
            this.zipped = gzip(content);
        }

        /** Returns the media type. */
        public String contentType() {
            return contentType;
        }

        /** Returns a copy of the content. */
        public byte[] content() {
            return content.clone();
        }

        /** Returns a copy of the content, compressed with gzip. */
        public byte[] zipped() {
            return zipped.clone();
        }
    }

    private final Map<String, WebFile> files = new LinkedHashMap<>();
    private final String page;
    private final String policy;

    /**
     * Reads all files.
     *
     * @param base path of the page, without a slash at its end; empty at the root of a server
     * @param below the path below it under which the files are served, with a slash at its end
     */
    public WebFiles(String base, String below) {
        String folder = base + below;
        Map<String, String> paths = new LinkedHashMap<>();
        for (String name : NAMES) {
            byte[] content = read(name);
            int dot = name.lastIndexOf('.');
            String hashed = name.substring(0, dot) + "-"
                    + HexFormat.of().formatHex(sha256(content)).substring(0, HASH_CHARACTERS) + name.substring(dot);
            files.put(hashed, new WebFile(contentType(name), content));
            paths.put(folder + name, folder + hashed);
        }
        String imports = "{\"imports\":{"
                + paths.entrySet().stream()
                        .filter(path -> path.getKey().endsWith(".js"))
                        .map(path -> "\"" + path.getKey() + "\":\"" + path.getValue() + "\"")
                        .collect(Collectors.joining(","))
                + "}}";
        String preload = FIRST.stream()
                .map(name -> "<link rel=\"modulepreload\" href=\"" + paths.get(folder + name) + "\">")
                .collect(Collectors.joining("\n"));
        String text = new String(read(PAGE), StandardCharsets.UTF_8)
                .replace("@base@", base.replace("&", "&amp;").replace("\"", "&quot;"))
                .replace("@imports@", imports)
                .replace("@preload@", preload);
        for (Map.Entry<String, String> path : paths.entrySet()) {
            text = text.replace("\"" + path.getKey().substring(folder.length()) + "\"", "\"" + path.getValue() + "\"");
        }
        this.page = text;
        this.policy = "default-src 'none'; script-src 'self' 'sha256-"
                + Base64.getEncoder().encodeToString(sha256(imports.getBytes(StandardCharsets.UTF_8)))
                + "'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';"
                + " frame-ancestors 'none'";
    }

    /** Returns the page. */
    public String page() {
        return page;
    }

    /** Returns the value of the header Content-Security-Policy for the page: only files of this server, no inline code. */
    public String contentSecurityPolicy() {
        return policy;
    }

    /** Returns the files by the names under which they are served. */
    public Map<String, WebFile> files() {
        return Map.copyOf(files);
    }

    private static String contentType(String name) {
        if (name.endsWith(".css")) {
            return "text/css; charset=utf-8";
        }
        return name.endsWith(".svg") ? "image/svg+xml" : "text/javascript; charset=utf-8";
    }

    private static byte[] read(String name) {
        try (InputStream in = WebFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("The dashboard's file " + name + " is missing");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] gzip(byte[] content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static byte[] sha256(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256", e);
        }
    }
}
