// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and private keys from PEM files, as certbot, cert-manager and openssl write them. */
final class Pem {

    private static final Pattern KEY = Pattern.compile(
            "-----BEGIN ((?:RSA |EC |ENCRYPTED )?)PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END \\1PRIVATE KEY-----");

    private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA");

    /** The algorithm identifier of an RSA key in PKCS #8. */
    private static final byte[] RSA = hex("300d06092a864886f70d0101010500");

    /** The algorithm identifiers of elliptic curves, which the length of the key selects. */
    private static final byte[] P256 = hex("301306072a8648ce3d020106082a8648ce3d030107");

    private static final byte[] P384 = hex("301006072a8648ce3d020106052b81040022");
    private static final byte[] P521 = hex("301006072a8648ce3d020106052b81040023");
    private static final byte[] VERSION = hex("020100");

    private Pem() {}

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    /** Returns a key store with a key and its chain, under this password. */
    static KeyStore identity(byte[] chain, byte[] key, char[] password) throws GeneralSecurityException, IOException {
        Certificate[] certificates = certificates(chain).toArray(new Certificate[0]);
        PrivateKey own = privateKey(key);
        requirePair(own, certificates[0]);
        KeyStore store = empty();
        store.setKeyEntry("reprise", own, password, certificates);
        return store;
    }

    /** A key store takes any two. Without this check every handshake would fail, and the server would say nothing. */
    private static void requirePair(PrivateKey key, Certificate certificate) throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        byte[] text = "reprise".getBytes(StandardCharsets.US_ASCII);
        boolean fits = certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm());
        if (fits) {
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(key);
            signer.update(text);
            Signature checker = Signature.getInstance(algorithm);
            checker.initVerify(certificate.getPublicKey());
            checker.update(text);
            fits = checker.verify(signer.sign());
        }
        if (!fits) {
            throw new GeneralSecurityException("the private key does not belong to the certificate");
        }
    }

    /** Returns a key store of trusted authorities. */
    static KeyStore trusted(byte[] authorities) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        int number = 0;
        for (Certificate each : certificates(authorities)) {
            store.setCertificateEntry("authority-" + number, each);
            number++;
        }
        return store;
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static Collection<? extends Certificate> certificates(byte[] text) throws GeneralSecurityException {
        Collection<? extends Certificate> found =
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(text));
        if (found.isEmpty()) {
            throw new GeneralSecurityException("there is no certificate in it");
        }
        return found;
    }

    static PrivateKey privateKey(byte[] text) throws GeneralSecurityException {
        Matcher found = KEY.matcher(new String(text, StandardCharsets.US_ASCII));
        if (!found.find()) {
            throw new GeneralSecurityException("there is no private key in it");
        }
        byte[] der = Base64.getMimeDecoder().decode(found.group(2));
        return switch (found.group(1)) {
            case "RSA " -> read(wrapped(RSA, der));
            case "EC " -> read(wrapped(curve(der), der));
            case "ENCRYPTED " ->
                throw new GeneralSecurityException(
                        "the private key is encrypted: openssl pkey -in FILE -out OTHER decrypts it");
            default -> read(der);
        };
    }

    private static PrivateKey read(byte[] pkcs8) throws GeneralSecurityException {
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (InvalidKeySpecException e) {
                // Tries the next algorithm.
            }
        }
        throw new GeneralSecurityException("the private key is neither RSA, EC nor EdDSA");
    }

    /** Selects the curve by the length of the number after the sequence and the version 1. */
    private static byte[] curve(byte[] sec1) throws GeneralSecurityException {
        int at = sec1.length > 2 && (sec1[1] & 0xff) > 0x80 ? 3 + (sec1[1] & 0x7f) : 5;
        int length = sec1.length > at + 1 ? sec1[at + 1] & 0xff : 0;
        return switch (length) {
            case 32 -> P256;
            case 48 -> P384;
            case 66 -> P521;
            default ->
                throw new GeneralSecurityException("the private key is of a curve other than P-256, P-384 and P-521");
        };
    }

    /** Wraps older key forms, which name the algorithm only in the heading, into PKCS #8. */
    private static byte[] wrapped(byte[] algorithm, byte[] key) {
        ByteArrayOutputStream inside = new ByteArrayOutputStream();
        inside.writeBytes(VERSION);
        inside.writeBytes(algorithm);
        inside.writeBytes(der(0x04, key));
        return der(0x30, inside.toByteArray());
    }

    private static byte[] der(int tag, byte[] content) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(tag);
        if (content.length < 0x80) {
            all.write(content.length);
        } else {
            int bytes = content.length < 0x100 ? 1 : 2;
            all.write(0x80 | bytes);
            for (int i = bytes - 1; i >= 0; i--) {
                all.write(content.length >> (8 * i));
            }
        }
        all.writeBytes(content);
        return all.toByteArray();
    }
}
