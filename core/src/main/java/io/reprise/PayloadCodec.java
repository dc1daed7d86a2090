// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.PayloadException;
import java.lang.reflect.Type;

/**
 * Turns payloads and results into JSON text and back. It reads only the class that the {@link JobType} was declared
 * with: a class name in stored data is never loaded. Unless the builder is given a codec,
 * {@link java.util.ServiceLoader} finds it. Implementations are thread-safe.
 *
 * <p>To store, the engine calls {@link #encode} and then {@link #seal}. To read, it calls {@link #open} and then
 * {@link #decode}.
 *
 * @since 0.1.0
 */
public interface PayloadCodec {

    /** The beginning of sealed JSON text, which nobody can read without its key. */
    String SEALED = "{\"$sealed\":\"";

    /**
     * Turns a payload or a result into JSON text.
     *
     * @throws PayloadException if the value cannot be written
     */
    String encode(Object value);

    /**
     * Turns JSON text into an object of the class.
     *
     * @param json the text that {@link #encode} returned
     * @throws PayloadException if the text cannot be read as this class; then the job fails as UNREADABLE
     */
    <T> T decode(String json, Class<T> type);

    /**
     * Turns JSON text into an object of a type that may have arguments, such as {@code List<Order>}. A codec that reads
     * classes only need not implement it.
     *
     * @param json the text that {@link #encode} returned
     * @param type the class, or a type with arguments; see {@link PayloadType}
     * @throws PayloadException if the text cannot be read as this type, or the codec reads classes only; then the job
     *     fails as UNREADABLE
     */
    default Object decode(String json, Type type) {
        if (type instanceof Class<?> simple) {
            return decode(json, simple);
        }
        throw new PayloadException(getClass().getName() + " cannot read " + type.getTypeName()
                + ": it reads classes only. Implement decode(String, Type), or wrap the payload in a class");
    }

    /**
     * Turns the stored result of a step into an object of the class. A codec whose {@link #decode} ignores unknown members
     * and fills in missing ones should refuse a text with both: it is of another class, or a member was renamed.
     *
     * @param json the text that {@link #encode} returned, perhaps in an earlier version of the code
     * @throws PayloadException if the text cannot be read as this class; then the job fails as UNREADABLE
     */
    default <T> T decodeResult(String json, Class<T> type) {
        return decode(json, type);
    }

    /**
     * Prepares JSON text for the store. Returns the text itself unless the codec encrypts.
     *
     * @throws PayloadException if the text cannot be sealed
     */
    default String seal(String json) {
        return json;
    }

    /**
     * Undoes {@link #seal}. A text that is not sealed is returned as it is.
     *
     * @throws PayloadException if the text is sealed and this codec does not have the key
     */
    default String open(String stored) {
        if (stored.startsWith(SEALED)) {
            throw new PayloadException(
                    "It is encrypted, and nobody gave Reprise the keys here: use an EncryptingCodec, as who stored it did");
        }
        return stored;
    }
}
