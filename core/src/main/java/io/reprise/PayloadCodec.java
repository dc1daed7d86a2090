// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * Turns payloads and results into JSON and back. The class to read is always the one the {@link JobType} was declared
 * with: no class name from stored data is ever loaded. Found by {@link java.util.ServiceLoader} unless the builder is
 * given one. Implementations are thread-safe and throw {@link PayloadException}.
 */
public interface PayloadCodec {

    String encode(Object value);

    <T> T decode(String json, Class<T> type);
}
