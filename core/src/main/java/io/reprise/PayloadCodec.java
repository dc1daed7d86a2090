// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * Turns payloads and results into JSON and back. The class to read is always the one the {@link JobType} was declared
 * with: no class name from stored data is ever loaded. Found by {@link java.util.ServiceLoader} unless the builder is
 * given one. Implementations are thread-safe and throw {@link PayloadException}.
 *
 * <p>What is stored is {@link #seal} of what {@link #encode} gave; what {@link #decode} gets was {@link #open}ed before.
 */
public interface PayloadCodec {

    /** How JSON begins that was sealed, and that nobody can read without its key. */
    String SEALED = "{\"$sealed\":\"";

    String encode(Object value);

    <T> T decode(String json, Class<T> type);

    /** JSON as it is stored: as it is, unless the codec encrypts. */
    default String seal(String json) {
        return json;
    }

    /**
     * Stored JSON as it was before {@link #seal}.
     *
     * @throws PayloadException if it was sealed with a key that is not known here
     */
    default String open(String stored) {
        if (stored.startsWith(SEALED)) {
            throw new PayloadException(
                    "It is encrypted, and nobody gave Reprise the keys here: use an EncryptingCodec, as who stored it did");
        }
        return stored;
    }
}
