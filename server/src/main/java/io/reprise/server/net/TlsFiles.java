// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files with certificates and keys. They are read again when they have changed. Files that
 * cannot be used change nothing.
 */
public final class TlsFiles {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final String UNTOLD = "in memory";

    private final HttpSettings.Tls tls;
    private final SslContextFactory.Server context = new SslContextFactory.Server();
    private List<byte[]> known = List.of();
    private List<byte[]> refused = List.of();

    /**
     * Reads the files.
     *
     * @throws IOException if they cannot be used
     */
    public TlsFiles(HttpSettings.Tls tls) throws IOException {
        this.tls = tls;
        List<byte[]> contents = contents();
        try {
            configure(context, contents);
        } catch (GeneralSecurityException e) {
            throw unusable(e);
        }
        known = contents;
    }

    public SslContextFactory.Server context() {
        return context;
    }

    /** Uses the present files for new connections; open connections go on. */
    public void reloadIfChanged() {
        List<byte[]> contents;
        try {
            contents = contents();
        } catch (IOException e) {
            log.warn("The certificate could not be read again, and stays as it is: {}", e.getMessage());
            return;
        }
        if (isSame(contents, known) || isSame(contents, refused)) {
            return;
        }
        try {
            // Tries the files first: a failure during the reload would leave no usable context.
            SslContextFactory.Server trial = new SslContextFactory.Server();
            configure(trial, contents);
            trial.start();
            trial.stop();
            context.reload(each -> {
                try {
                    configure((SslContextFactory.Server) each, contents);
                } catch (GeneralSecurityException | IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            known = contents;
            log.info("New connections use the certificate that has been put in place");
        } catch (Exception e) {
            refused = contents;
            log.error("The certificate has changed and cannot be used; the one before stays: {}", e.getMessage());
        }
    }

    private static boolean isSame(List<byte[]> one, List<byte[]> other) {
        boolean same = one.size() == other.size();
        for (int i = 0; same && i < one.size(); i++) {
            same = Arrays.equals(one.get(i), other.get(i));
        }
        return same;
    }

    private List<byte[]> contents() throws IOException {
        List<byte[]> all = new ArrayList<>();
        for (Path file : files()) {
            all.add(Files.readAllBytes(file));
        }
        return all;
    }

    private List<Path> files() {
        List<Path> files = new ArrayList<>(tls.files());
        Path authorities = tls.clientCa();
        if (authorities != null) {
            files.add(authorities);
        }
        return files;
    }

    private void configure(SslContextFactory.Server target, List<byte[]> contents)
            throws GeneralSecurityException, IOException {
        @Nullable String password = tls.password();
        if (password == null) {
            target.setKeyStore(Pem.identity(contents.get(0), contents.get(1), UNTOLD.toCharArray()));
            target.setKeyStorePassword(UNTOLD);
        } else {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(new ByteArrayInputStream(contents.get(0)), password.toCharArray());
            target.setKeyStore(store);
            target.setKeyStorePassword(password);
        }
        if (tls.clientCa() != null) {
            target.setTrustStore(Pem.trusted(contents.get(contents.size() - 1)));
            // Client certificates are requested, not required: liveness probes have none.
            target.setWantClientAuth(true);
        }
    }

    private IOException unusable(Exception e) {
        return new IOException("The certificate in " + tls.files().get(0) + " cannot be used: " + e.getMessage(), e);
    }
}
